import { Prisma } from '../../platform/database/generated/client';
import { uuidFloor } from '../../platform/database/uuid';
import { asRecorded, recordedForms } from '../../platform/privacy/recorded';
import { Listed } from './cursor';
import { CallState, possibleStates, Present, recordedAs } from '../../operations/lifecycle';
import { inProgress, notExpired, stateAtSql, stateTerms } from '../../operations/lifecycle-sql';
import { SearchFilters } from './search.dto';

/** What rows of the index must be, to be found. */
export interface Conditions {
  /** Terms that all of them have. */
  terms: Prisma.Sql[];
  /** Lists of terms, of each of which they have one at least. */
  anyOf: Prisma.Sql[];
  /** What terms alone do not say. */
  others: Prisma.Sql[];
  /** Lists of terms that only narrow down where `others` are to be checked: of no use where rows are read in order. */
  hints: Prisma.Sql[];
  /** Whether terms are among them that few rows have: it is not worth while to read rows in order and hope. */
  rare: boolean;
  /** Whether they hold only for what waits or is in progress now, however long the history: all of it can be read at once. */
  few: boolean;
}

/** Which rows of the index: one of each call is enough, those that are payouts, or both. */
export type Rows = Listed | 'all';

/** The ids that a search asks for: from this one on, and below that one. */
export interface Range {
  from: string | undefined;
  to: string | undefined;
}

/** Filters that one payout of a call has to pass, all of them together. */
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

/** All other outcomes are those of so few calls that reading on from the newest one would hardly find any. */
const OFTEN: readonly CallState[] = ['succeeded', 'rejected', 'refused'];

/** What a search names, as the index knows it. */
export interface Named {
  /** Ids of the clients that it names; undefined if it names none. */
  clientIds: string[] | undefined;
  /** The phone numbers that its recipient may mean. */
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

/** What is searched for, as records have it: contacts in it are masked there. */
function toRecorded({ ...search }: SearchFilters): SearchFilters {
  for (const name of ['country', 'network_code', 'reference', 'upstream_ref'] as const) {
    if (search[name] !== undefined) search[name] = asRecorded(search[name]);
  }
  return search;
}

/** The index does not know the time: an approval that expired is recorded as pending. */
const APPROVAL_TERMS: Partial<Record<string, string>> = { expired: 'pending' };

/** Whether the index alone cannot tell which calls are in this state now. */
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

/** @param but filters that are not of one term. */
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

/** An unescaped + in an address is a blank when it arrives, and no contact has one. */
const asContact = (given: string) => given.replaceAll(' ', '+');

function recipientTerms(given: string, phones: string[]): Prisma.Sql {
  return Prisma.sql`ARRAY[search_term('to', lower(${asContact(given)}::text)), search_term('receiver', ${given}::text)]
    || ${phones.map((phone) => `to:${phone}`)}::text[]`;
}

/** The longest of the beginnings that the index knows (search_beginnings of the migrations). */
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

/** A transaction may belong to a call and to none of its payouts for certain: then it does not say more of one of them. */
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

/** The steps of amounts that have some between two bounds. */
function steps(kind: 'item' | 'total', min: string | undefined, max: string | undefined): Prisma.Sql[] {
  if (min === undefined && max === undefined) return [];
  const low = min === undefined ? Prisma.sql`-9999` : Prisma.sql`search_step(${min}::numeric)`;
  const high = max === undefined ? Prisma.sql`10000` : Prisma.sql`search_step(${max}::numeric)`;
  return [
    Prisma.sql`ARRAY(SELECT kind || ':' || slice FROM search_slice WHERE kind = ${kind}::text AND slice BETWEEN ${low} AND ${high})`,
  ];
}
