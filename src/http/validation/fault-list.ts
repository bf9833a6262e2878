import { Fault, MAX_FAULTS } from '../../platform/errors/problem';

/**
 * The faults that were found so far. Only the first are written down; the others are counted, so that a body with a hundred
 * thousand faults costs no more than one that is sound.
 */
export class FaultList {
  readonly faults: Fault[] = [];
  /** Places of items with a fault; in a list of whose items not all were looked at, every item is taken for one. */
  readonly brokenItems = new Set<number>();
  total = 0;

  /** @param pointer and `detail` are asked only for faults that are written down. */
  add(pointer: () => string, detail: () => string): void {
    this.total += 1;
    if (this.faults.length < MAX_FAULTS) this.faults.push({ pointer: pointer(), detail: detail() });
  }

  /** Notes an item as broken if `look` finds a fault in it. */
  inItem(place: number, look: () => void): void {
    const before = this.total;
    look();
    if (this.total > before) this.brokenItems.add(place);
  }
}
