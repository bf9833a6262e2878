import { Decimal } from 'decimal.js';
import { Grants } from '../clients/grants';
import { LIMIT_FIELDS } from '../clients/limit-fields';
import { Limits, NO_LIMITS } from '../clients/limits';
import { OwnLimits } from '../people/person-exceptions';
import { NO_PROVIDERS, providerWidenings } from '../clients/providers';

/** What a client may do before it exists: nothing. */
export const NO_GRANTS: Grants = { ...NO_LIMITS, ...NO_PROVIDERS, scopes: [], operations: null };

/** Whether a value of a limit allows something that another value does not. Null stands for no limit. */
type Widens<Value> = (before: Value, after: Value) => boolean;

const WIDENS: { [key in keyof Limits]: Widens<Limits[key]> } = {
  dailyCapUsd: isMore,
  monthlyCapUsd: isMore,
  maxItemUsd: isMore,
  maxCallUsd: isMore,
  approvalOverUsd: isMore,
  approvalOverRecipientDayUsd: isMore,
  approvalOverDayUsd: isMore,
  maxRecipientDayUsd: isMore,
  holdDuplicatesDays: isLess,
  maxItems: isMore,
  requestsPerMinute: isMore,
  countries: isLonger,
  addresses: isLonger,
  // Without a list, no page of another origin may call.
  origins: (before, after) => after.some((origin) => !before.includes(origin)),
  requireIdempotencyKey: isOff,
  beneficiariesOnly: isOff,
  beneficiaryCoolOffSeconds: isLess,
  personDailyCapUsd: isMore,
  personMonthlyCapUsd: isMore,
  personMaxItemUsd: isMore,
  personRequestsPerMinute: isMore,
};

/** Returns which limits of a person a change raises, by the names of the API. A person without a limit has the client's. */
export function personWidenings(before: OwnLimits, after: OwnLimits, client: Limits): string[] {
  const keys = Object.keys(DEFAULT_OF) as (keyof OwnLimits)[];
  return keys
    .filter((key) => isMore(before[key] ?? client[DEFAULT_OF[key]], after[key] ?? client[DEFAULT_OF[key]]))
    .map((key) => LIMIT_FIELDS[DEFAULT_OF[key]].name);
}

const DEFAULT_OF = {
  dailyCapUsd: 'personDailyCapUsd',
  monthlyCapUsd: 'personMonthlyCapUsd',
  maxItemUsd: 'personMaxItemUsd',
  requestsPerMinute: 'personRequestsPerMinute',
} as const satisfies Record<keyof OwnLimits, keyof Limits>;

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
  const limits = (Object.keys(WIDENS) as (keyof Limits)[]).filter((key) => widensLimit(key, before, after));
  return [
    ...(granted.length > 0 ? ['scopes'] : []),
    ...(operations ? ['operations'] : []),
    ...limits.map((key) => LIMIT_FIELDS[key].name),
    ...providerWidenings(before, after),
  ];
}

function widensLimit<Key extends keyof Limits>(key: Key, before: Limits, after: Limits): boolean {
  return WIDENS[key](before[key], after[key]);
}

function isMore(before: Decimal | number | null, after: Decimal | number | null): boolean {
  if (before === null) return false;
  return after === null || new Decimal(after).greaterThan(before);
}

/** A longer time holds more payouts. */
function isLess(before: number | null, after: number | null): boolean {
  return (after ?? 0) < (before ?? 0);
}

function isOff(before: boolean, after: boolean): boolean {
  return before && !after;
}

/** An empty list allows everything. */
function isLonger(before: string[], after: string[]): boolean {
  return before.length > 0 && (after.length === 0 || !within(after, before));
}

function within(words: string[] | null, all: string[]): boolean {
  return words?.every((word) => all.includes(word)) ?? false;
}
