interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface GroupLimits<Item> {
  /** Largest sum of weights in a group. A heavier item is a group of its own. */
  most: number;
  weightOf: (item: Item) => number;
}

/**
 * Writes items in groups, one group at a time. Items that arrive during a write share the next one, so the
 * cost of a commit is shared when it matters. An item that arrives alone is written at once.
 */
export class GroupCommit<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private isWriting = false;

  /** @param write returns a result for each item, in order. If it fails, all items of the group fail. */
  constructor(
    private readonly write: (items: Item[]) => Promise<Result[]>,
    private readonly limits: GroupLimits<Item>,
  ) {}

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (!this.isWriting) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      const group = this.nextGroup();
      try {
        const results = await this.write(group.map(({ item }) => item));
        for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.isWriting = false;
  }

  private nextGroup(): Waiting<Item, Result>[] {
    const { most, weightOf } = this.limits;
    let [size, weight] = [0, 0];
    for (const { item } of this.waiting) {
      weight += weightOf(item);
      if (weight > most && size > 0) break;
      size++;
    }
    return this.waiting.splice(0, size);
  }
}
