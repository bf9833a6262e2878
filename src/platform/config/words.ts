/** The words of a setting or an option that takes several, comma-separated. */
export function words(list: string): string[] {
  return list.split(',').flatMap((word) => word.trim() || []);
}
