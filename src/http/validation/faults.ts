import { ValidationError } from 'class-validator';
import { Fault } from '../../platform/errors/problem';

/** JSON pointers (RFC 6901) may come from a caller's own field names: long ones are cut, unprintable ones replaced. */
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

/** class-validator's tree of errors, as a flat list. */
export function toFaults(errors: ValidationError[], parent = ''): Fault[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const pointer = pointerTo(parent, property);
    const own = Object.values(constraints).map((detail) => ({ pointer, detail }));
    return [...own, ...toFaults(children, pointer)];
  });
}

/** The names of all fields there are, of whatever class. */
export const FIELD_NAMES = new Set<string>();

/**
 * Faults as the record may keep them for ever: a name that is no field's is the caller's own text, and may be a person's
 * address. The answer says it, the record says only its place.
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
