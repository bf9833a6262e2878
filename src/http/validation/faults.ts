import { ValidationError } from 'class-validator';
import { Fault, MAX_FAULTS } from '../../platform/errors/problem';

/** Longest field name of a caller in a JSON pointer (RFC 6901). Longer ones are cut. */
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
 * Returns faults as records store them. The name of an unknown field may be a person's address. The response
 * quotes it, and the record does not.
 * @param extras the additional fields that the operator allows.
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
 * The faults of a request. Lists the first ones and counts the others, so that a body with a hundred thousand
 * faults costs no more than a valid one.
 */
export class FaultList {
  readonly faults: Fault[] = [];
  /** Positions of items with a fault. A list that was not checked completely has only faulty items. */
  readonly brokenItems = new Set<number>();
  total = 0;

  /** @param pointer is called only for faults that are written out, like `detail`. */
  add(pointer: () => string, detail: () => string): void {
    this.total += 1;
    if (this.faults.length < MAX_FAULTS) this.faults.push({ pointer: pointer(), detail: detail() });
  }

  /** Marks an item as broken if `look` adds a fault. */
  inItem(place: number, look: () => void): void {
    const before = this.total;
    look();
    if (this.total > before) this.brokenItems.add(place);
  }
}
