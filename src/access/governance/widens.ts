import { Decimal } from 'decimal.js';
import { Grants } from '../clients/grants';
import { LIMIT_KEYS, LIMIT_ROWS, LimitKey, Limits, NO_LIMITS, OWN_LIMITS } from '../clients/limits/limits';
import { OwnLimits } from '../people/person';
import { NO_PROVIDERS, providerWidenings } from '../clients/providers';

/** What a client may do before it exists: nothing. */
export const NO_GRANTS: Grants = { ...NO_LIMITS, ...NO_PROVIDERS, scopes: [], operations: null };

/** Returns which limits of a person a change raises, by the names of the API. A person without a limit has the client's. */
export function personWidenings(before: OwnLimits, after: OwnLimits, client: Limits): string[] {
  return OWN_LIMITS.filter(([own, key]) => widens(key, before[own] ?? client[key], after[own] ?? client[key])).map(
    ([, key]) => LIMIT_ROWS[key].name,
  );
}

/**
 * Returns what a change lets a client do that it could not do before, by the names of the API. A second person must agree
 * to it. Nothing is left out, so an empty list means that every request that is allowed afterwards was allowed before.
 *
 * Each permission is judged as if all others allowed everything. A limit that another one hides today counts, because the
 * other one may be raised later, with an approval that does not show the first. Every scope opens something.
 */
export function widenings(before: Grants, after: Grants): string[] {
  const granted = after.scopes.filter((scope) => !before.scopes.includes(scope));
  const operations = before.operations !== null && !within(after.operations, before.operations);
  const limits = LIMIT_KEYS.filter((key) => widens(key, before[key], after[key]));
  return [
    ...(granted.length > 0 ? ['scopes'] : []),
    ...(operations ? ['operations'] : []),
    ...limits.map((key) => LIMIT_ROWS[key].name),
    ...providerWidenings(before, after),
  ];
}

/** Returns whether a value of a limit allows something that another value of it does not. */
function widens(key: LimitKey, before: Limits[LimitKey], after: Limits[LimitKey]): boolean {
  const row = LIMIT_ROWS[key];
  switch (row.kind) {
    case 'list':
      return isLonger(before as string[], after as string[], row.empty);
    case 'flag':
      return before !== after && (row.widens === 'set') === after;
    case 'usd':
    case 'count':
      return isWider(before as Decimal | number | null, after as Decimal | number | null, row.widens);
  }
}

function isWider(before: Decimal | number | null, after: Decimal | number | null, wider: 'more' | 'less'): boolean {
  if (before === null || after === null) return before !== null;
  return wider === 'more' ? new Decimal(after).greaterThan(before) : new Decimal(after).lessThan(before);
}

/** @param empty what an empty list allows. */
function isLonger(before: string[], after: string[], empty: 'any' | 'none'): boolean {
  if (empty === 'any' && before.length === 0) return false;
  return !within(after, before) || (empty === 'any' && after.length === 0);
}

function within(words: string[] | null, all: string[]): boolean {
  return words?.every((word) => all.includes(word)) ?? false;
}
