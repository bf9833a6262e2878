/** Returns the first element of a non-empty list. */
export function first<Element>(list: readonly Element[]): Element {
  const [one] = list;
  if (one === undefined) throw new Error('the list is empty');
  return one;
}
