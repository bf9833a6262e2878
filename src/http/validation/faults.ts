import { ValidationError } from 'class-validator';
import { Fault, MAX_FAULTS } from '../../platform/errors/problem';

/**
 * JSON pointers (RFC 6901) may contain a caller's own field names. Long ones are cut, and unprintable
 * characters replaced.
 */
const MAX_TOKEN = 100;

export function pointerTo(parent: string, key: string | number): string {
  const token = String(key)
    .slice(0, MAX_TOKEN)
    .replaceAll('~', '~0')
    .replaceAll('/', '~1')
    .replace(/[\p{Cc}\p{Surrogate}]/gu, '\ufffd');
  return `${parent}/${token}`;
}

export const UNKNOWN_FIELD = 'must not be sent, because it is not a field of this operation';

/** Flattens class-validator's tree of errors into a list. */
export function toFaults(errors: ValidationError[], parent = ''): Fault[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const pointer = pointerTo(parent, property);
    const own = Object.values(constraints).map((detail) => ({ pointer, detail }));
    return [...own, ...toFaults(children, pointer)];
  });
}

/** The names of all fields of all classes. */
export const FIELD_NAMES = new Set<string>();

/**
 * Returns faults as records store them. An unknown field's name is the caller's own text and may be a
 * person's address. The response names the field, the record only its place.
 * @param extras the names of fields that the operator allows beside the known ones.
 */
export function forTheRecord(faults: Fault[], extras: readonly string[] = []): Fault[] {
  const isKnown = (token: string) =>
    token === '' || FIELD_NAMES.has(token) || extras.includes(token) || /^\d{1,5}$/.test(token);
  return faults.map(({ pointer, detail }) => {
    const tokens = pointer.split('/').map((token) => (isKnown(token) ? token : '…'));
    return { pointer: tokens.join('/'), detail };
  });
}

/**
 * The faults found so far. Only the first ones are written out, and the others are counted, so that a body
 * with a hundred thousand faults costs no more than a valid one.
 */
export class FaultList {
  readonly faults: Fault[] = [];
  /**
   * Positions of items with a fault. If not all items of a list were checked, every item of it counts as
   * faulty.
   */
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
