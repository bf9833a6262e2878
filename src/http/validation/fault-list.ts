import { Fault, MAX_FAULTS } from '../../platform/errors/problem';

/**
 * The faults found so far. Only the first ones are written out, and the others are counted, so that a body with a
 * hundred thousand faults costs no more than a valid one.
 */
export class FaultList {
  readonly faults: Fault[] = [];
  /** Positions of items with a fault. If not all items of a list were checked, every item of it counts as faulty. */
  readonly brokenItems = new Set<number>();
  total = 0;

  /** @param pointer is called only for faults that are written out, like `detail`. */
  add(pointer: () => string, detail: () => string): void {
    this.total += 1;
    if (this.faults.length < MAX_FAULTS) this.faults.push({ pointer: pointer(), detail: detail() });
  }

  /** Marks an item as broken if `look` finds a fault in it. */
  inItem(place: number, look: () => void): void {
    const before = this.total;
    look();
    if (this.total > before) this.brokenItems.add(place);
  }
}
