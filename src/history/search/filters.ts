import { Owner } from '../../access/auth/owner';
import { hasTerm, NameFilter } from '../../journal/lookups/search-names';
import { countryTerm, TAGS, termOf } from '../../journal/lookups/search-terms';
import { CallState, possibleStates, Present, recordedAs } from '../../operations/lifecycle/lifecycle';
import { inProgress, notExpired, stateAtSql, stateTerms } from '../../operations/lifecycle/lifecycle-sql';
import { Prisma } from '../../platform/database/generated/client';
import { uuidFloor } from '../../platform/database/uuid';
import { asRecorded } from '../../platform/privacy/recorded';
import { namesOf, ofCallNames, referenceTerms } from './name-filters';
import { beginnings, beginsWith, isNamed, recipientTerms } from './recipient-filters';
import { ResultKind, SearchFilters } from './search.dto';

/** Conditions on entries of the index and their payouts. */
export interface Conditions {
  /** Terms that an entry must all have. */
  terms: string[];
  /** Lists of terms. An entry must have at least one term of each list. */
  anyOf: Prisma.Sql[];
  /** Filters by names, the rarest first. Other conditions repeat them, because names may share a hash. */
  names: NameFilter[];
  /** Conditions that terms cannot express. */
  others: Prisma.Sql[];
  /** Conditions that must all hold for the same payout: its terms `payout` and its amount `usd`. */
  ofPayouts: Prisma.Sql[];
  /** Whether the terms of a call suffice to decide that one of its payouts meets them all. */
  decided: boolean;
  /** Lists of terms that only narrow the entries to check. Useless for reads in order. */
  hints: Prisma.Sql[];
  /** Whether few entries have the terms. A read in order would hardly find them. */
  rare: boolean;
  /** Whether they match only pending or running calls, which are few enough to read at once. */
  few: boolean;
}

/** Results: calls, their payouts, or both to count them. */
export type CountedKind = ResultKind | 'all';

/** Range of call IDs. `to` is excluded. */
export interface Range {
  from: string | undefined;
  to: string | undefined;
}

/** Filters that must all match the same payout of a call. */
const PAYOUT_FILTERS = [
  'recipient',
  'recipient_prefix',
  'country',
  'network_code',
  'reference',
  'min_item_usd',
  'max_item_usd',
] as const;

export function filtersItems(search: SearchFilters): boolean {
  return PAYOUT_FILTERS.some((name) => search[name] !== undefined);
}

export function rangeOf({ from, to }: SearchFilters): Range {
  const idOf = (instant: string | undefined) =>
    instant === undefined ? undefined : uuidFloor(new Date(instant));
  return { from: idOf(from), to: idOf(to) };
}

/** Frequent outcomes. Other calls are so rare that a read from the newest would hardly find any. */
const FREQUENT_STATES: readonly CallState[] = ['succeeded', 'rejected', 'refused'];

/** Entities named by a search, in the form of the index. */
export interface NamedFilter {
  /** IDs of the named clients. Undefined if the search names none. */
  clientIds: string[] | undefined;
  /** The phone numbers that the recipient may mean. */
  phones: string[];
}

export function conditionsOf(
  filters: SearchFilters,
  rows: CountedKind,
  named: NamedFilter,
  present: Present,
): Conditions {
  const search = toRecorded(filters);
  const { clientIds } = named;
  const { upstream_ref: ref, recipient_prefix: prefix, outcome, in_doubt: inDoubt, approval } = search;
  const states: CallState[] = inDoubt === 'true' ? ['unknown'] : [];
  if (outcome !== undefined) states.push(outcome as CallState); // validated
  const isSent = states.includes('in_progress');
  const isHeld = approval === 'pending' || states.includes('pending_approval');
  const payouts = payoutTerms(search, named.phones);
  const references = filters.reference === undefined ? [] : [referenceTerms(filters.reference)];
  return {
    terms: [
      ...exactTerms(search),
      ...payouts.flatMap((list) => (list.length === 1 ? list : [])),
      ...(approval === undefined ? [] : [`approval:${APPROVAL_TERMS[approval] ?? approval}`]),
    ],
    anyOf: [
      ...(clientIds === undefined ? [] : [Prisma.sql`${clientIds.map((id) => `client:${id}`)}::text[]`]),
      ...payouts.flatMap((list) => (list.length === 1 ? [] : [Prisma.sql`${list}::text[]`])),
      ...(prefix === undefined || isNamed(prefix) ? [] : [beginnings(prefix)]),
      ...states.map((state) => stateTerms(recordedAs(state))),
    ],
    names: namesOf(filters, search),
    others: [
      ...ofCallNames(search),
      ...states.filter(dependsOnTime).map((state) => Prisma.sql`${stateAtSql(present)} = ${state}`),
      ...(inDoubt === 'false' ? [Prisma.sql`${stateAtSql(present)} <> 'unknown'`] : []),
      ...(isSent ? [inProgress(present)] : []),
      ...(isHeld ? [notExpired(present)] : []),
      ...(approval === 'expired' ? [Prisma.sql`${stateAtSql(present)} = 'expired'`] : []),
      ...within(Prisma.sql`total_usd`, search.min_total_usd, search.max_total_usd),
      ...someWithin(search),
    ],
    ofPayouts: [
      ...[...payouts, ...references].map((list) => hasTerm(PAYOUT, list)),
      ...(prefix === undefined ? [] : [beginsWith(prefix)]),
      ...within(Prisma.sql`usd`, search.min_item_usd, search.max_item_usd),
      ...(ref === undefined || rows === 'calls' || (rows === 'all' && filtersItems(search))
        ? []
        : [hasTerm(PAYOUT, [termOf(TAGS.ref, ref)])]),
    ],
    decided: rows === 'calls' ? !filtersItems(search) || isDecided(search) : true,
    hints: [
      ...steps('item', search.min_item_usd, search.max_item_usd),
      ...steps('total', search.min_total_usd, search.max_total_usd),
    ],
    rare: isRare(search) || states.some((state) => !FREQUENT_STATES.includes(state)),
    few: isSent || isHeld,
  };
}

/** Returns whether payouts are filtered by a single term or bound. A call with it has such a payout. */
function isDecided(search: SearchFilters): boolean {
  const [only, ...more] = PAYOUT_FILTERS.filter((name) => search[name] !== undefined);
  return more.length === 0 && only !== 'recipient_prefix' && only !== 'reference';
}

const PAYOUT = Prisma.sql`payout`;

/** Returns lists of terms. A payout must have at least one term of each list. */
function payoutTerms(search: SearchFilters, phones: string[]): string[][] {
  const { recipient, country, network_code: network } = search;
  return [
    ...(recipient === undefined ? [] : [recipientTerms(recipient, phones)]),
    ...(country === undefined ? [] : [[countryTerm(country)]]),
    ...(network === undefined ? [] : [[termOf(TAGS.network, network)]]),
  ];
}

/** Converts the filters to the recorded form, in which contacts are masked. */
function toRecorded({ ...search }: SearchFilters): SearchFilters {
  for (const name of ['country', 'network_code', 'reference', 'upstream_ref'] as const) {
    if (search[name] !== undefined) search[name] = asRecorded(search[name]);
  }
  return search;
}

/** Approval terms. The index does not know the time: an expired approval is recorded as pending. */
const APPROVAL_TERMS: Partial<Record<string, string>> = { expired: 'pending' };

/** Returns whether the index alone cannot show which calls are in this state now. */
const dependsOnTime = (state: CallState) =>
  possibleStates(state).length > 1 || recordedAs(state).some((one) => one !== state);

/** The tags of the terms of a call (call_entry of the migrations). */
const TERM_TAGS = {
  key: 'key:',
  actor: 'actor:',
  actor_source: 'source:',
  person_id: 'person:',
  operation: 'operation:',
  client_address: 'address:',
} as const satisfies Partial<Record<keyof SearchFilters, string>>;

/** Returns the terms of all calls of an owner. */
export function termsOf({ clientId, person }: Owner): string[] {
  return [`client:${clientId}`, ...(person === null ? [] : [`person:${person.id}`])];
}

function exactTerms(search: SearchFilters): string[] {
  return Object.entries(TERM_TAGS).flatMap(([name, tag]) => {
    const value = search[name as keyof typeof TERM_TAGS];
    return value === undefined
      ? []
      : [termOf(tag, /^(key|person_id)$/.test(name) ? value.toLowerCase() : value)];
  });
}

/** Filters by values that few calls share. */
const RARE_FILTERS = ['recipient', 'reference', 'upstream_ref', 'idempotency_key', 'request_id'] as const;

function isRare(search: SearchFilters): boolean {
  return (
    RARE_FILTERS.some((name) => search[name] !== undefined) || (search.recipient_prefix?.length ?? 0) >= 7
  );
}

function within(usd: Prisma.Sql, least: string | undefined, most: string | undefined): Prisma.Sql[] {
  return [
    ...(least === undefined ? [] : [Prisma.sql`${usd} >= ${least}::numeric`]),
    ...(most === undefined ? [] : [Prisma.sql`${usd} <= ${most}::numeric`]),
  ];
}

/** Returns conditions for a payout within each bound, not necessarily the same payout. */
function someWithin({ min_item_usd: least, max_item_usd: most }: SearchFilters): Prisma.Sql[] {
  return [
    ...(least === undefined ? [] : [Prisma.sql`${least}::numeric <= ANY (item_usd)`]),
    ...(most === undefined ? [] : [Prisma.sql`${most}::numeric >= ANY (item_usd)`]),
  ];
}

/** Returns the terms of the amount steps between two bounds. */
function steps(kind: 'item' | 'total', min: string | undefined, max: string | undefined): Prisma.Sql[] {
  if (min === undefined && max === undefined) return [];
  const low = min === undefined ? Prisma.sql`-9999` : Prisma.sql`search_step(${min}::numeric) - 1`;
  const high = max === undefined ? Prisma.sql`10000` : Prisma.sql`search_step(${max}::numeric) + 1`;
  return [
    Prisma.sql`ARRAY(SELECT kind || ':' || slice FROM indexed_slice WHERE kind = ${kind}::text
      AND slice BETWEEN ${low} AND ${high})`,
  ];
}
