import { accountNamed } from '../../journal/records/accounts';
import { actorOf } from '../../journal/records/author';
import { itemsSql } from '../../journal/records/document-sql';
import {
  CredentialDocument,
  IntentDocument,
  ItemDocument,
  OutcomeDocument,
  TransactionDocument,
  SettlementDocument,
} from '../../journal/records/documents';
import { PersonDocument } from '../../journal/records/recipients';
import { RefusalMembers, REFUSAL_COLUMNS } from '../../journal/records/request-members';
import { LedgerItem, ledgerOf } from '../../journal/settlement/ledger';
import { approvalStatusOf, CallState, Present, stateOf } from '../../operations/lifecycle/lifecycle';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { transactionOf } from '../records/items';
import { lifecycleOf, resolutionIn } from '../records/rows';
import { ResultKind } from '../search/search.dto';

/** A refused request, by its column names. */
interface Refusal extends RefusalMembers {
  actor: string | null;
  credential: CredentialDocument | null;
  status: number;
  code: string;
  detail: string;
  first_call_id: string | null;
  recorded_at: string;
}

interface Decision {
  kind: string;
  client_id: string | null;
  key_id: string | null;
  actor: string | null;
  reason: string;
  decided_at: string;
  process: number;
  screening: string | null;
}

/** Records of a call for an export. All times are ISO 8601 in UTC. */
export interface ExportedCall {
  /** Null if the call has only a refusal. Refused payouts have both. */
  intent: IntentDocument | null;
  refusal: Refusal | null;
  /** Name of the client. */
  client: string | null;
  /** Account of the client at the upstream. */
  account: string;
  people: PersonDocument[];
  /** Name of its requester. Null if unknown or erased. */
  actor: string | null;
  /** Null if the request had none, or it was erased. */
  idempotencyKey: string | null;
  outcome: OutcomeDocument | null;
  decision: Decision | null;
  /** Oldest first. */
  settlements: SettlementDocument[];
  state: CallState;
  inDoubtSince: string | null;
  approval: string | null;
}

/** A payout of a call with its transaction, in its latest state. */
export interface ExportedItem {
  position: number;
  item: ItemDocument;
  person: PersonDocument | undefined;
  transaction: TransactionDocument | undefined;
  /** Undefined if the item is no payout. */
  payout: LedgerItem | undefined;
}

interface StoredCall {
  record: string | null;
  people: string | null;
  idempotencyKey: string | null;
  outcome: string | null;
  refusal: string | null;
  client: string | null;
  account: string | null;
  personName: string | null;
  personSalt: Uint8Array | null;
  decision: string | null;
  settlements: string[];
}

/** Formats an instant. The proxy's clock has milliseconds, and the database's has microseconds. */
const UTC = (column: string, fraction: 'MS' | 'US' = 'US') =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.${fraction}"Z"')`;

const REQUEST_COLUMNS = REFUSAL_COLUMNS.map(({ name, type }) => {
  if (type === 'bytea') return `encode(r.${name}, 'hex') AS ${name}`;
  return type === 'timestamptz' ? `${UTC(`r.${name}`, 'MS')} AS ${name}` : `r.${name}`;
});

const REFUSAL = `
  SELECT row_to_json(x)::text FROM (
    SELECT ${REQUEST_COLUMNS.join(', ')}, r.credential, r.status, r.code, r.detail, r.first_call_id,
      ${UTC('r.recorded_at')} AS recorded_at) AS x`;

/** A record with an empty array `items`, because payouts and transactions are most of its size. */
const withoutItems = (table: 'intent' | 'outcome', record: string) =>
  `replace(${record}, ${itemsSql(table, record)}, '[]')`;

/** Parts of a call that only one kind of export needs. */
const DOCUMENTS: Record<ResultKind, string> = {
  calls: `
    ${withoutItems('intent', 'i.record')} AS record, NULL AS people,
    ${withoutItems('outcome', 'o.record')} AS outcome`,
  items: 'i.record, b.people, o.record AS outcome',
};

/** The key in the table of keys. An erased key has no salt. */
const KEY = `
  CASE
    WHEN r.id IS NOT NULL THEN CASE WHEN k.salt IS NOT NULL THEN k.key END
    WHEN b.idempotency_key_salt IS NOT NULL THEN b.idempotency_key
  END`;

const DECISION = `
  json_build_object(
    'kind', d.kind, 'decided_at', ${UTC('d.decided_at')}, 'process', d.process, 'client_id', d.client_id,
    'key_id', d.key_id, 'actor', d.actor, 'reason', d.reason, 'screening', d.screening)::text`;

/** Returns the query. The IDs in $1 let Postgres skip the partitions of other months in each join. */
const sqlOf = (listed: ResultKind) => `
  SELECT
    ${DOCUMENTS[listed]}, ${KEY} AS "idempotencyKey", c.name AS client, c.account,
    CASE WHEN r.id IS NOT NULL THEN (${REFUSAL}) END AS refusal,
    p.name AS "personName", p.salt AS "personSalt",
    CASE WHEN d.intent_id IS NOT NULL THEN ${DECISION} END AS decision,
    ARRAY(SELECT record FROM settlement s WHERE s.intent_id = i.id ORDER BY number) AS settlements
  FROM unnest($1::uuid[]) AS wanted (id)
  LEFT JOIN intent i ON i.id = wanted.id AND i.id = ANY ($1::uuid[])
  LEFT JOIN refusal r ON r.id = wanted.id AND r.id = ANY ($1::uuid[])
  LEFT JOIN intent_body b ON b.intent_id = i.id AND b.intent_id = ANY ($1::uuid[])
  LEFT JOIN refusal_key k ON k.refusal_id = r.id AND k.refusal_id = ANY ($1::uuid[])
  LEFT JOIN outcome o ON o.intent_id = i.id AND o.intent_id = ANY ($1::uuid[])
  LEFT JOIN decision d ON d.intent_id = i.id AND d.intent_id = ANY ($1::uuid[])
  LEFT JOIN client c ON c.id = coalesce(r.client_id, i.client_id)
  LEFT JOIN person p ON p.id = coalesce(r.person_id, i.person_id)`;

const SQL = { calls: sqlOf('calls'), items: sqlOf('items') };

/** Reads calls by their IDs, except those pruned in the meantime. Exports of calls omit the payouts. */
export async function readExportedCalls(
  prisma: ReaderPrisma,
  listed: ResultKind,
  ids: string[],
  present: Present,
): Promise<Map<string, ExportedCall>> {
  const rows = await prisma.readLong<StoredCall>({ text: SQL[listed], values: [ids] });
  const calls = new Map<string, ExportedCall>();
  for (const row of rows) {
    const call = toCall(row, present);
    const id = call.intent?.id ?? call.refusal?.id;
    if (id !== undefined) calls.set(id, call);
  }
  return calls;
}

function toCall(row: StoredCall, present: Present): ExportedCall {
  const records = {
    intent: parsed<IntentDocument>(row.record),
    outcome: parsed<OutcomeDocument>(row.outcome),
    refusal: parsed<Refusal>(row.refusal),
    decision: parsed<Decision>(row.decision),
    settlements: row.settlements.map((record) => JSON.parse(record) as SettlementDocument),
  };
  return {
    client: row.client,
    account: accountNamed(records.intent ? records.intent.account : row.account),
    people: parsed<PersonDocument[]>(row.people) ?? [],
    actor: actorOf((records.refusal ?? records.intent)?.actor_commitment, {
      name: row.personName,
      salt: row.personSalt,
    }),
    idempotencyKey: row.idempotencyKey,
    ...records,
    ...statesOf(records, present),
  };
}

function parsed<Value>(text: string | null): Value | null {
  return text === null ? null : (JSON.parse(text) as Value);
}

type Records = Pick<ExportedCall, 'intent' | 'outcome' | 'refusal' | 'decision' | 'settlements'>;

function statesOf(
  { intent, outcome, refusal, decision, settlements }: Records,
  present: Present,
): Pick<ExportedCall, 'state' | 'inDoubtSince' | 'approval'> {
  if ((refusal && decision?.kind !== 'released') || !intent)
    return { state: 'refused', inDoubtSince: null, approval: null };
  const decided = decision && { decidedAt: new Date(decision.decided_at), ...decision };
  const call = lifecycleOf(intent, outcome, decided, resolutionIn(settlements));
  const state = stateOf(call, present);
  return {
    state,
    // Same rule as `inDoubtSince`, with the database's microseconds.
    inDoubtSince:
      state === 'unknown' ? (outcome?.answered_at ?? decision?.decided_at ?? intent.recorded_at) : null,
    approval: approvalStatusOf(call, present),
  };
}

/** Returns the payout of a call at a position. Undefined if none. */
export function itemOf(call: ExportedCall, position: number): ExportedItem | undefined {
  const { intent, outcome, settlements, people } = call;
  const item = intent?.items?.[position];
  if (!intent || !item) return undefined;
  const isHere = (one: { position?: number | undefined }) => one.position === position;
  const payout = ledgerOf({ intent, outcome, settlements })[position];
  const transaction = transactionOf(outcome?.items?.find(isHere), payout);
  return { position, item, person: people.find(isHere), transaction, payout };
}
