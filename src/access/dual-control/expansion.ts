import { Decimal } from 'decimal.js';
import { Grants } from '../clients/grants';
import { LIMIT_KEYS, LIMIT_ROWS, LimitKey, Limits, NO_LIMITS, OWN_LIMITS } from '../clients/limits/limits';
import { NO_PROVIDERS, providerExpansions } from '../clients/providers';
import { OwnLimits } from '../people/person';

/** Permissions of a client before its creation: none. */
export const NO_GRANTS: Grants = { ...NO_LIMITS, ...NO_PROVIDERS, scopes: [], operations: null };

/** Returns the raised limits of a person, by their names in the API. The client's limits are the default. */
export function personExpansions(before: OwnLimits, after: OwnLimits, client: Limits): string[] {
  return OWN_LIMITS.filter(([own, key]) =>
    expands(key, before[own] ?? client[key], after[own] ?? client[key]),
  ).map(([, key]) => LIMIT_ROWS[key].name);
}

/**
 * Returns the permissions that a change expands, by their names in the API. They need a second person. The
 * list is complete: if it is empty, every request allowed after the change was allowed before.
 *
 * Each permission is judged as if all others allowed everything. A limit hidden by a stricter one counts,
 * because the stricter one may be raised later, and that approval would not show the hidden one.
 */
export function expansions(before: Grants, after: Grants): string[] {
  const granted = after.scopes.filter((scope) => !before.scopes.includes(scope));
  const operations = before.operations !== null && !within(after.operations, before.operations);
  const limits = LIMIT_KEYS.filter((key) => expands(key, before[key], after[key]));
  return [
    ...(granted.length > 0 ? ['scopes'] : []),
    ...(operations ? ['operations'] : []),
    ...limits.map((key) => LIMIT_ROWS[key].name),
    ...providerExpansions(before, after),
  ];
}

/** Returns whether a new value of a limit allows more than the old one. */
function expands(key: LimitKey, before: Limits[LimitKey], after: Limits[LimitKey]): boolean {
  const row = LIMIT_ROWS[key];
  switch (row.kind) {
    case 'list':
      return isLonger(before as string[], after as string[], row.empty);
    case 'flag':
      return before !== after && (row.expands === 'set') === after;
    case 'usd':
    case 'count':
      return loosens(before as Decimal | number | null, after as Decimal | number | null, row.expands);
  }
}

function loosens(
  before: Decimal | number | null,
  after: Decimal | number | null,
  expands: 'more' | 'less',
): boolean {
  if (before === null || after === null) return before !== null;
  return expands === 'more' ? new Decimal(after).greaterThan(before) : new Decimal(after).lessThan(before);
}

/** @param empty the meaning of an empty list. */
function isLonger(before: string[], after: string[], empty: 'any' | 'none'): boolean {
  if (empty === 'any' && before.length === 0) return false;
  return !within(after, before) || (empty === 'any' && after.length === 0);
}

function within(words: string[] | null, all: string[]): boolean {
  return words?.every((word) => all.includes(word)) ?? false;
}
