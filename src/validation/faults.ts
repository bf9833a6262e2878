import { ValidationError } from 'class-validator';
import { Fault } from '../errors/problem';

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

export const UNKNOWN_FIELD = 'is not a field of this operation; remove it';

/** class-validator's tree of errors, as a flat list. */
export function toFaults(errors: ValidationError[], parent = ''): Fault[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const pointer = pointerTo(parent, property);
    const own = Object.entries(constraints).map(([name, message]) => ({
      pointer,
      detail: name === 'whitelistValidation' ? UNKNOWN_FIELD : message,
    }));
    return [...own, ...toFaults(children, pointer)];
  });
}

/**
 * The fields that class-transformer leaves out without a word, for they name something every object has (`__proto__`,
 * `constructor`, `toString`): they are unknown like any other.
 */
export function leftOut(plain: unknown, instance: unknown, parent = ''): Fault[] {
  if (typeof plain !== 'object' || plain === null || typeof instance !== 'object' || instance === null) return [];
  return Object.entries(plain).flatMap(([key, value]) => {
    const pointer = pointerTo(parent, key);
    if (!Object.hasOwn(instance, key)) return [{ pointer, detail: UNKNOWN_FIELD }];
    return leftOut(value, (instance as Record<string, unknown>)[key], pointer);
  });
}
