/** Returns the words of a comma-separated setting or option. */
export function words(list: string): string[] {
  return list.split(',').flatMap((word) => word.trim() || []);
}
