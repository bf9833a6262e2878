/** The first element of a list, which must have one. */
export function first<Element>(list: readonly Element[]): Element {
  const [one] = list;
  if (one === undefined) throw new Error('the list is empty');
  return one;
}
