import { feesOf } from '../../operations/items/fees';
import { totalOf } from '../../operations/items/item';
import { Entry } from '../../operations/lifecycle/settlement';
import { jsonText } from '../../platform/json/json-text';
import { hexCommitment, newSalt } from '../../platform/privacy/commitment';
import { asRecorded, proseAsRecorded } from '../../platform/privacy/recorded';
import { UNSTAMPED } from './document-sql';
import { PersonDocument, recipientsCommitment } from './recipients';
import { itemDocument, RecordedItem, recordedItems } from './recorded-items';
import { NewOutcome, NewTry, OpenIntent, UpstreamItem, RecordedEntry, RecordedSettlement } from './records';
import { REQUEST_MEMBERS, WrittenMembers } from './request-members';
import { Parts } from './request-table';

/**
 * The records of requests and outcomes are documents. The stored text is the text that the log seals:
 * canonical JSON (RFC 8785). Members without a value are omitted.
 *
 * `JSON.stringify` writes values as RFC 8785, section 3.2.2 does. The order of the members is that of section
 * 3.2.3, by UTF-16 units. The members of a request are in request-table.ts.
 */

/** The type that a reader gets for a written document. Its texts may be any. */
type ParsedDocument<Written> = Written extends string
  ? string
  : Written extends (infer Element)[]
    ? ParsedDocument<Element>[]
    : Written extends object
      ? {
          [Name in keyof Written as undefined extends Written[Name] ? never : Name]: ParsedDocument<
            Written[Name]
          >;
        } & {
          [Name in keyof Written as undefined extends Written[Name] ? Name : never]?: ParsedDocument<
            Written[Name]
          >;
        }
      : Written;

/** Members of a record that `database recover` restored from a copy. */
interface RecoveryMember {
  recovered?: true;
}

/** The record of a request. */
export type IntentDocument = ParsedDocument<WrittenMembers> & RecoveryMember;

/** The access token or the page session in the record of a request. */
export type CredentialDocument = Pick<IntentDocument, 'session' | 'token'>;

/** A payout of a request. */
export type ItemDocument = ParsedDocument<RecordedItem>;

/** The record of an outcome. */
export type OutcomeDocument = ParsedDocument<ReturnType<typeof outcomeDocument>> & RecoveryMember;

/** A transaction of an answer. */
export type TransactionDocument = ParsedDocument<ReturnType<typeof transactionDocument>>;

/** A record and its erasable parts. */
export interface WrittenIntent extends Parts {
  record: string;
  /** JSON of `PersonDocument[]`. Null if no item names a person. */
  people: string | null;
  /** See `StoredPeople`. */
  peopleSalt: Buffer | null;
}

export function writeIntent(intent: OpenIntent): WrittenIntent {
  const people: PersonDocument[] = [];
  const items = recordedItems(intent.items).map((item, position) => {
    const { email, handle, phone } = item;
    if ((email ?? phone ?? handle) !== null)
      people.push({
        email: email ?? undefined,
        handle: handle ?? undefined,
        phone: phone ?? undefined,
        position,
      });
    return itemDocument(item);
  });
  const peopleSalt = people.length > 0 ? newSalt() : null;
  const written = {
    record: '',
    items,
    totalUsd: totalOf(intent.items)?.toFixed(),
    expectedFeeUsd: feesOf(intent.items, intent.feeRule)?.toFixed(),
    salt: newSalt(),
    people: people.length > 0 ? JSON.stringify(people) : null,
    peopleSalt,
    recipientsCommitment: recipientsCommitment(intent.id, { people, peopleSalt }),
  };
  written.record = writeMembers(intent, written);
  return written;
}

/** Types whose text JSON never escapes. */
const UNESCAPED = ['uuid', 'numeric', 'date'];

/** The members of a request, sorted. */
const MEMBERS = REQUEST_MEMBERS.toSorted((one, other) => (one.name < other.name ? -1 : 1)).map(
  ({ name, of, intent = '' }) => ({ start: `,"${name}":`, of, isPlain: UNESCAPED.includes(intent) }),
);

/** Writes the members one by one, because V8 is slower on an object that a loop extends. */
function writeMembers(intent: OpenIntent, parts: Parts): string {
  let text = '';
  for (const { start, of, isPlain } of MEMBERS) {
    const value = of(intent, parts) ?? undefined;
    if (value !== undefined) text += isPlain ? `${start}"${value as string}"` : start + writeValue(value);
  }
  return `{${text.slice(1)}}`;
}

function writeValue(value: unknown): string {
  if (typeof value === 'string') return jsonText(value);
  if (value instanceof Date) return `"${value.toISOString()}"`;
  return value instanceof Buffer ? `"${value.toString('hex')}"` : JSON.stringify(value);
}

/** @param salt the salt of the answer's body. */
export function writeOutcome(outcome: NewOutcome, salt: Buffer): string {
  return JSON.stringify(outcomeDocument(outcome, salt));
}

function outcomeDocument(outcome: NewOutcome, salt: Buffer) {
  return {
    answer_of: outcome.answerOf ?? undefined,
    answered_at: outcome.answeredAt.toISOString(),
    attempts: outcome.attempts,
    body_commitment: outcome.body ? hexCommitment(salt, outcome.body) : undefined,
    content_type: asRecorded(outcome.contentType) ?? undefined,
    counted_usd: outcome.countedUsd ?? undefined, // Unless it equals the reservation.
    entries: shortest(outcome.entries), // Of each item, in order.
    failure: outcome.failure ?? undefined,
    intent_id: outcome.intentId,
    items: outcome.items.length > 0 ? outcome.items.map(transactionDocument) : undefined,
    kind: outcome.kind,
    recorded_at: UNSTAMPED,
    retry_after: outcome.retryAfter ?? undefined,
    sent_at: outcome.sentAt.toISOString(),
    table: 'outcome',
    tries: outcome.tries.length > 0 ? outcome.tries.map(tryDocument) : undefined,
    undelivered: outcome.undelivered || undefined, // The caller's connection closed before its answer.
    upstream_ms: outcome.upstreamMs.toFixed(3),
    upstream_status: outcome.upstreamStatus ?? undefined,
  };
}

function transactionDocument(item: UpstreamItem) {
  return {
    amount_usd: item.amountUsd?.toFixed(),
    batch_ref: asRecorded(item.batchRef) ?? undefined,
    differs: item.differs, // Unless it agrees with its payout.
    fee_usd: item.feeUsd?.toFixed(),
    payout_error: proseAsRecorded(item.payoutError ?? null) ?? undefined,
    payout_status: proseAsRecorded(item.payoutStatus ?? null) ?? undefined,
    position: item.position ?? undefined, // Of its payout, if certain.
    status: proseAsRecorded(item.status) ?? undefined,
    upstream_id: asRecorded(item.upstreamId) ?? undefined,
    upstream_ref: asRecorded(item.upstreamRef) ?? undefined,
  };
}

/** Replaces a list of equal entries, the usual case, by one. */
function shortest(entries: Entry[] | undefined): Entry | Entry[] | undefined {
  return entries?.every((entry) => entry === entries[0]) ? entries[0] : entries;
}

function tryDocument({ failure, ms, phase, startedAt, status }: NewTry) {
  return {
    failure: failure ?? undefined,
    ms: ms.toFixed(3),
    phase,
    started_at: startedAt.toISOString(),
    status: status ?? undefined,
  };
}

/** The record of a settlement. */
export type SettlementDocument = ParsedDocument<ReturnType<typeof settlementDocument>>;

/** An entry of a settlement. */
export type EntryDocument = SettlementDocument['entries'][number];

export function writeSettlement(settlement: RecordedSettlement): string {
  return JSON.stringify(settlementDocument(settlement));
}

function settlementDocument({ by, evidence, ...settlement }: RecordedSettlement) {
  return {
    actor: by?.actor ?? undefined,
    // Other calls that could have made the transactions.
    calls: evidence?.calls.length ? evidence.calls : undefined,
    client_id: by?.clientId,
    counted_usd: settlement.countedUsd.toFixed(),
    entries: settlement.entries.map(entryDocument),
    id: settlement.id,
    intent_id: settlement.intentId,
    key_id: by?.keyId,
    number: settlement.number,
    reads: evidence?.reads.length ? evidence.reads : undefined, // The readings of the upstream (source_read).
    reason: proseAsRecorded(settlement.reason) ?? '',
    recorded_at: UNSTAMPED,
    resolution: settlement.resolution ?? undefined,
    source: settlement.source,
    supersedes: settlement.supersedes, // The previous settlement, or the call.
    table: 'settlement',
    undelivered: settlement.undelivered || undefined,
  };
}

function entryDocument(entry: RecordedEntry) {
  const { transaction } = entry;
  return {
    amount_usd: entry.amountUsd?.toFixed(),
    at: transaction?.at ?? undefined,
    batch_ref: transaction?.batch_ref ?? undefined,
    entry: entry.entry,
    from: entry.from,
    position: entry.position,
    status: transaction?.status ?? undefined,
    to: entry.to,
    upstream_id: transaction?.upstream_id ?? undefined,
    upstream_ref: transaction?.upstream_ref ?? undefined,
  };
}
