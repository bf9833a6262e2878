import { Prisma } from '../../platform/database/generated/client';
import { uuidFloor } from '../../platform/database/uuid';
import { asRecorded, recordedForms } from '../../platform/privacy/recorded';
import { Listed } from './cursor';
import { CallState, possibleStates, Present, recordedAs } from '../../operations/lifecycle';
import { inProgress, notExpired, stateAtSql, stateTerms } from '../../operations/lifecycle-sql';
import { SearchFilters } from './search.dto';

/** The conditions on rows of the index. */
export interface Conditions {
  /** Terms that a row must all have. */
  terms: Prisma.Sql[];
  /** Lists of terms. A row must have at least one term of each list. */
  anyOf: Prisma.Sql[];
  /** Conditions that terms cannot express. */
  others: Prisma.Sql[];
  /** Lists of terms that only narrow the rows on which `others` are checked. Of no use when rows are read in order. */
  hints: Prisma.Sql[];
  /** Whether few rows have the terms. Then reading rows in order would not find them. */
  rare: boolean;
  /** Whether they match only pending or running calls. There are always few of them, so all can be read at once. */
  few: boolean;
}

/** Which rows of the index to use: one for each call, those that are payouts, or both. */
export type Rows = Listed | 'all';

/** The range of call IDs. `to` is exclusive. */
export interface Range {
  from: string | undefined;
  to: string | undefined;
}

/** Filters that must all match the same payout of a call. */
const OF_ITEMS = [
  'recipient',
  'recipient_prefix',
  'country',
  'network_code',
  'reference',
  'min_item_usd',
  'max_item_usd',
] as const;

export function filtersItems(search: SearchFilters): boolean {
  return OF_ITEMS.some((name) => search[name] !== undefined);
}

export function rangeOf({ from, to }: SearchFilters): Range {
  const idOf = (instant: string | undefined) => (instant === undefined ? undefined : uuidFloor(new Date(instant)));
  return { from: idOf(from), to: idOf(to) };
}

const term = (tag: string, value: string) => Prisma.sql`search_term(${tag}::text, ${value}::text)`;

/** Calls with any other outcome are so rare that reading from the newest on would hardly find any. */
const OFTEN: readonly CallState[] = ['succeeded', 'rejected', 'refused'];

/** The entities that a search names, as the index knows them. */
export interface Named {
  /** IDs of the named clients. Undefined if the search names none. */
  clientIds: string[] | undefined;
  /** The phone numbers that the recipient may mean. */
  phones: string[];
}

export function conditionsOf(asked: SearchFilters, rows: Rows, named: Named, present: Present): Conditions {
  const search = toRecorded(asked);
  const { clientIds } = named;
  const references = recordedForms(asked.reference ?? '');
  const { recipient, recipient_prefix: prefix, upstream_ref: ref, outcome, in_doubt: inDoubt, approval } = search;
  const states: CallState[] = inDoubt === 'true' ? ['unknown'] : [];
  if (outcome !== undefined) states.push(outcome as CallState); // validated
  const isSent = states.includes('in_progress');
  const isHeld = approval === 'pending' || states.includes('pending_approval');
  return {
    terms: [
      ...exactTerms(search, references.length > 1 ? ['reference'] : []),
      ...(ref === undefined || isOfWholeCall(search, rows) ? [] : [term('ref', ref)]),
      ...(approval === undefined ? [] : [term('approval', APPROVAL_TERMS[approval] ?? approval)]),
    ],
    anyOf: [
      ...(clientIds === undefined ? [] : [Prisma.sql`ARRAY(SELECT 'client:' || unnest(${clientIds}::text[]))`]),
      ...(recipient === undefined ? [] : [Prisma.sql`(${recipientTerms(recipient, named.phones)})`]),
      ...(references.length > 1 ? [Prisma.sql`${references.map((form) => `reference:${form}`)}::text[]`] : []),
      ...(prefix === undefined ? [] : [beginnings(prefix)]),
      ...states.map((state) => stateTerms(recordedAs(state))),
    ],
    others: [
      ...(rows === 'items' ? [Prisma.sql`position >= 0`] : []),
      ...(rows === 'calls' && !filtersItems(search) && ref === undefined ? [Prisma.sql`leads`] : []),
      ...(rows === 'all' && ref === undefined ? [Prisma.sql`(leads OR position >= 0)`] : []),
      ...(ref !== undefined && isOfWholeCall(search, rows) ? [hasRef(ref)] : []),
      ...(prefix === undefined ? [] : [beginsWith(prefix)]),
      ...states.filter(dependsOnTime).map((state) => Prisma.sql`${stateAtSql(present)} = ${state}`),
      ...(inDoubt === 'false' ? [Prisma.sql`${stateAtSql(present)} <> 'unknown'`] : []),
      ...(isSent ? [inProgress(present)] : []),
      ...(isHeld ? [notExpired(present)] : []),
      ...(approval === 'expired' ? [Prisma.sql`${stateAtSql(present)} = 'expired'`] : []),
      ...bounds(search),
    ],
    hints: [
      ...steps('item', search.min_item_usd, search.max_item_usd),
      ...steps('total', search.min_total_usd, search.max_total_usd),
    ],
    rare: isRare(search) || states.some((state) => !OFTEN.includes(state)),
    few: isSent || isHeld,
  };
}

/** Converts the filters to the recorded form, in which contacts are masked. */
function toRecorded({ ...search }: SearchFilters): SearchFilters {
  for (const name of ['country', 'network_code', 'reference', 'upstream_ref'] as const) {
    if (search[name] !== undefined) search[name] = asRecorded(search[name]);
  }
  return search;
}

/** The index does not know the time. An expired approval is recorded as pending. */
const APPROVAL_TERMS: Partial<Record<string, string>> = { expired: 'pending' };

/** Returns whether the index alone cannot tell which calls are in this state now. */
const dependsOnTime = (state: CallState) =>
  possibleStates(state).length > 1 || recordedAs(state).some((one) => one !== state);

const TERM_TAGS = {
  key: 'key',
  actor: 'actor',
  operation: 'operation',
  country: 'country',
  network_code: 'network',
  reference: 'reference',
  idempotency_key: 'idempotency',
  request_id: 'request',
  client_address: 'address',
} as const satisfies Partial<Record<keyof SearchFilters, string>>;

/** @param but filters without a single term. */
function exactTerms(search: SearchFilters, but: string[]): Prisma.Sql[] {
  return Object.entries(TERM_TAGS).flatMap(([name, tag]) => {
    const value = search[name as keyof typeof TERM_TAGS];
    return value === undefined || but.includes(name) ? [] : [term(tag, tag === 'key' ? value.toLowerCase() : value)];
  });
}

function isRare({
  recipient,
  recipient_prefix: prefix,
  reference,
  upstream_ref: ref,
  idempotency_key: key,
  request_id: id,
}: SearchFilters) {
  return [recipient, reference, ref, key, id].some((value) => value !== undefined) || (prefix?.length ?? 0) >= 7;
}

/** Restores an unescaped + of an address, which arrives as a space. No contact contains a space. */
const asContact = (given: string) => given.replaceAll(' ', '+');

function recipientTerms(given: string, phones: string[]): Prisma.Sql {
  return Prisma.sql`ARRAY[search_term('to', lower(${asContact(given)}::text)), search_term('receiver', ${given}::text)]
    || ${phones.map((phone) => `to:${phone}`)}::text[]`;
}

/** The longest indexed beginning of the prefix (search_beginnings of the migrations). */
function beginnings(prefix: string): Prisma.Sql {
  const length = [10, 7, 5, 3].find((known) => [...prefix].length >= known) ?? 0;
  const known = [asContact(prefix), prefix].map(
    (text) => Prisma.sql`'begins:' || left(lower(${text}::text), ${length}::integer)`,
  );
  return Prisma.sql`ARRAY[${Prisma.join(known)}]`;
}

function beginsWith(prefix: string): Prisma.Sql {
  return Prisma.sql`EXISTS (SELECT FROM unnest(terms) AS term
    WHERE starts_with(term, 'to:' || lower(${asContact(prefix)}::text)) OR starts_with(lower(term), 'receiver:' || lower(${prefix}::text)))`;
}

/**
 * Returns whether upstream_ref is matched against the whole call. A transaction may belong to none of its payouts for
 * certain.
 */
function isOfWholeCall(search: SearchFilters, rows: Rows): boolean {
  return rows !== 'items' && filtersItems(search);
}

function hasRef(ref: string): Prisma.Sql {
  return Prisma.sql`call_id = ANY (ARRAY(SELECT r.call_id FROM search_entry r WHERE r.terms @> ARRAY[${term('ref', ref)}]))`;
}

function bounds({ min_item_usd, max_item_usd, min_total_usd, max_total_usd }: SearchFilters): Prisma.Sql[] {
  return [
    ...(min_item_usd === undefined ? [] : [Prisma.sql`item_usd >= ${min_item_usd}::numeric`]),
    ...(max_item_usd === undefined ? [] : [Prisma.sql`item_usd <= ${max_item_usd}::numeric`]),
    ...(min_total_usd === undefined ? [] : [Prisma.sql`total_usd >= ${min_total_usd}::numeric`]),
    ...(max_total_usd === undefined ? [] : [Prisma.sql`total_usd <= ${max_total_usd}::numeric`]),
  ];
}

/** Returns the terms of the amount steps between two bounds. */
function steps(kind: 'item' | 'total', min: string | undefined, max: string | undefined): Prisma.Sql[] {
  if (min === undefined && max === undefined) return [];
  const low = min === undefined ? Prisma.sql`-9999` : Prisma.sql`search_step(${min}::numeric)`;
  const high = max === undefined ? Prisma.sql`10000` : Prisma.sql`search_step(${max}::numeric)`;
  return [
    Prisma.sql`ARRAY(SELECT kind || ':' || slice FROM search_slice WHERE kind = ${kind}::text AND slice BETWEEN ${low} AND ${high})`,
  ];
}
