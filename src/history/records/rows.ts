import { actorOf, PersonRow } from '../../journal/records/author';
import { IntentDocument, OutcomeDocument, SettlementDocument } from '../../journal/records/documents';
import { PersonDocument } from '../../journal/records/recipients';
import { LedgerItem, ledgerOf } from '../../journal/settlement/ledger';
import { RecordedCall, Resolution } from '../../operations/lifecycle/lifecycle';
import { callsWith } from '../../operations/lifecycle/lifecycle-sql';
import { ENTRIES } from '../../operations/lifecycle/settlement';
import { Prisma } from '../../platform/database/generated/client';
import { readableIn } from '../../platform/database/rows/stored-body';
import { commitment } from '../../platform/privacy/commitment';

const TABLES = ['intent_body b', 'outcome o', 'decision d'];

const RECORDS = Prisma.sql`
  i.record, b.people, b.people_salt AS "peopleSalt",
  b.idempotency_key AS "idempotencyKey", b.idempotency_key_salt AS "keySalt",
  o.record AS outcome,
  ARRAY(SELECT s.record FROM settlement s WHERE s.intent_id = i.id ORDER BY s.number) AS settlements,
  d.kind AS "decisionKind", d.reason, d.body_commitment AS "bodyCommitment", d.client_id::text AS "clientId",
  d.key_id::text AS "keyId", d.actor, d.decided_at AS "decidedAt", d.process, d.screening,
  p.name AS "personName", p.salt AS "personSalt"`;

const PERSON = Prisma.sql`LEFT JOIN person p ON p.id = i.person_id`;

/**
 * Reads the records of calls, in no order, without bodies, which may be large. One statement reads them all,
 * because each statement delays payments about as much as thirty records.
 */
export const recordsOf = (ids: string[]) =>
  Prisma.sql`SELECT ${RECORDS} FROM ${callsWith(ids, TABLES)} ${PERSON}`;

/** Reads the records and bodies of one call. */
export const recordsAndBodiesOf = (id: string) => Prisma.sql`
  SELECT ${RECORDS}, b.salt, b.body, b.coding, a.salt AS "answerSalt", a.body AS "answerBody",
    a.coding AS "answerCoding"
  FROM ${callsWith([id], [...TABLES, 'outcome_body a'])} ${PERSON}`;

/** Members of a decision in records. */
type Decision = Pick<
  Prisma.DecisionGetPayload<object>,
  | 'kind'
  | 'reason'
  | 'bodyCommitment'
  | 'clientId'
  | 'keyId'
  | 'actor'
  | 'decidedAt'
  | 'process'
  | 'screening'
>;

/** A row of `recordsOf`. */
export interface RecordsRow extends Omit<Decision, 'kind'> {
  record: string;
  people: string | null;
  peopleSalt: Uint8Array | null;
  idempotencyKey: string | null;
  /** Null if the key was erased. */
  keySalt: Uint8Array | null;
  outcome: string | null;
  settlements: string[];
  /** Null without a decision. */
  decisionKind: string | null;
  /** Name of the requester. Null if unset or erased. */
  personName: string | null;
  personSalt: Uint8Array | null;
}

/** A row of `recordsAndBodiesOf`. */
export interface RecordsAndBodiesRow extends RecordsRow {
  salt: Uint8Array | null;
  body: Uint8Array | null;
  coding: string | null;
  answerSalt: Uint8Array | null;
  answerBody: Uint8Array | null;
  answerCoding: string | null;
}

/** A body with its salt. */
export interface StoredBody {
  salt: Uint8Array;
  body: Uint8Array;
}

/** An idempotency key with its salt. */
interface StoredKey {
  salt: Uint8Array;
  text: string;
}

/** The records of a call. */
export interface StoredCall {
  intent: IntentDocument;
  /** Name of the requester. Null if unknown or erased. */
  actor: string | null;
  /** Current row of that person. */
  person: PersonRow;
  /** People in its items, and the commitments of erased ones. */
  people: PersonDocument[];
  /** See `StoredPeople`. */
  peopleSalt: Uint8Array | null;
  /** Null if the call has no stored key, or it was erased. */
  key: StoredKey | null;
  outcome: OutcomeDocument | null;
  decision: Decision | null;
  /** Oldest first. */
  settlements: SettlementDocument[];
  /** Payouts of the call. Empty if its items are no payouts. */
  payouts: LedgerItem[];
  /** Parts of the records that determine its state. */
  lifecycle: RecordedCall;
}

/** The records of a call with its bodies. */
export interface FullStoredCall extends StoredCall {
  body: StoredBody | null;
  /** Body of the answer. */
  answer: StoredBody | null;
}

export function toStoredCall(row: RecordsRow): StoredCall {
  const settlements = row.settlements.map((record) => JSON.parse(record) as SettlementDocument);
  const intent = JSON.parse(row.record) as IntentDocument;
  const people = JSON.parse(row.people ?? '[]') as PersonDocument[];
  const outcome = row.outcome === null ? null : (JSON.parse(row.outcome) as OutcomeDocument);
  const decision = decisionIn(row);
  const lifecycle = lifecycleOf(intent, outcome, decision, resolutionIn(settlements));
  const payouts = ledgerOf({ intent, outcome, settlements });
  const { idempotencyKey: text, keySalt: salt, peopleSalt } = row;
  const key = text !== null && salt ? { text, salt } : null;
  const person = { name: row.personName, salt: row.personSalt };
  const actor = actorOf(intent.actor_commitment, person);
  return {
    intent,
    actor,
    person,
    people,
    peopleSalt,
    key,
    outcome,
    decision,
    settlements,
    payouts,
    lifecycle,
  };
}

function decisionIn(row: RecordsRow): Decision | null {
  const {
    decisionKind: kind,
    reason,
    bodyCommitment,
    clientId,
    keyId,
    actor,
    decidedAt,
    process,
    screening,
  } = row;
  if (kind === null) return null;
  return { kind, reason, bodyCommitment, clientId, keyId, actor, decidedAt, process, screening };
}

export function toFullStoredCall(row: RecordsAndBodiesRow): FullStoredCall {
  return {
    ...toStoredCall(row),
    body: bodyOf(row.salt, row.body, row.coding),
    answer: bodyOf(row.answerSalt, row.answerBody, row.answerCoding),
  };
}

/** Changed bytes without meaning stay as they are, and contradict the record. */
function bodyOf(salt: Uint8Array | null, body: Uint8Array | null, coding: string | null): StoredBody | null {
  return salt && body && { salt, body: readableIn({ body, coding }) ?? body };
}

/** Returns whether a payout of an answered call is in doubt. */
export function hasPayoutInDoubt({ outcome, payouts }: StoredCall): boolean {
  return outcome !== null && payouts.some(({ entry }) => !ENTRIES[entry].known);
}

/** Returns the parts of the records that determine the state of a call. */
export function lifecycleOf(
  intent: IntentDocument,
  outcome: OutcomeDocument | null,
  decision: RecordedCall['decision'],
  resolution: RecordedCall['resolution'],
): RecordedCall {
  return {
    recordedAt: new Date(intent.recorded_at),
    process: intent.process,
    heldFor: intent.held_for ?? null,
    expiresAt: intent.expires_at === undefined ? null : new Date(intent.expires_at),
    outcome: outcome && { kind: outcome.kind, answeredAt: new Date(outcome.answered_at) },
    decision,
    resolution,
  };
}

/** Returns people or transactions by the position of their item. */
export function byPosition<Entry extends { position?: number | undefined }>(
  entries: Entry[] = [],
): Map<number | undefined, Entry> {
  return new Map(entries.map((entry) => [entry.position, entry]));
}

/** Returns the commitment to a stored body, in the form of its record. */
export function commitmentOf(stored: StoredBody | null): string | undefined {
  return stored ? commitment(Buffer.from(stored.salt), Buffer.from(stored.body))?.toString('hex') : undefined;
}

/** Returns the resolution of the call as a whole by the last settlement. */
export function resolutionIn(settlements: readonly SettlementDocument[]): { outcome: Resolution } | null {
  const resolution = settlements.at(-1)?.resolution;
  return resolution === undefined ? null : { outcome: resolution as Resolution };
}
