import { ValidationError } from 'class-validator';
import { Fault } from '../../platform/errors/problem';

/**
 * JSON pointers (RFC 6901) may contain a caller's own field names. Long ones are cut, and unprintable characters
 * replaced.
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
 * Returns faults as records store them. An unknown field's name is the caller's own text and may be a person's address. The
 * response names the field, the record only its place.
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
