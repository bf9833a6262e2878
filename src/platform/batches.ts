/**
 * Splits a list into batches, in its order.
 * @param most the size of a batch. A larger item is a batch of its own.
 * @param sizeOf the size of an item. By default, each counts as one.
 */
export function batchesOf<Item>(
  items: Iterable<Item>,
  most: number,
  sizeOf: (item: Item) => number = () => 1,
): Item[][] {
  const batches: Item[][] = [];
  let room = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (size > room || batches.length === 0) {
      batches.push([]);
      room = most;
    }
    batches.at(-1)?.push(item);
    room -= size;
  }
  return batches;
}

/** Groups values by their keys, in their order. */
export function grouped<Key, Value>(pairs: Iterable<readonly [Key, Value]>): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
