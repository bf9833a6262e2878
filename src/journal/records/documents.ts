import { feesOf } from '../../operations/items/fees';
import { totalOf } from '../../operations/items/item';
import { Entry } from '../../operations/lifecycle/settlement';
import { asRecorded, proseAsRecorded } from '../../platform/privacy/recorded';
import { commitment, newSalt } from '../../platform/privacy/commitment';
import { UNSTAMPED } from './document-sql';
import { ItemCommitments, itemDocument, recordedItems } from './recorded-items';
import { NewOutcome, NewTry, OpenIntent, UpstreamItem, RecordedEntry, RecordedSettlement } from './records';
import { REQUEST_MEMBERS, WrittenMembers } from './request-members';
import { Parts } from './request-table';

/**
 * The records of requests and outcomes are documents: the text that is stored is the text that the log seals. It is
 * canonical JSON (RFC 8785). A member without a value is left out.
 *
 * `JSON.stringify` writes values as RFC 8785 does. Members are in its order, which sorts by UTF-16 units. Those of a request are in
 * request-table.ts.
 */

/** A document as it is read, by what is written. Its texts may be any. */
type Read<Written> = Written extends string
  ? string
  : Written extends (infer Element)[]
    ? Read<Element>[]
    : Written extends object
      ? {
          [Name in keyof Written as undefined extends Written[Name] ? never : Name]: Read<Written[Name]>;
        } & { [Name in keyof Written as undefined extends Written[Name] ? Name : never]?: Read<Written[Name]> }
      : Written;

/** What the record of a call says if `database recover` restored it from a copy. */
interface Restored {
  recovered?: true;
}

/** What earlier programs wrote, and commitments have replaced. */
interface Replaced {
  idempotency_key?: string;
  actor?: string;
}

/** The record of a request. */
export type IntentDocument = Read<WrittenMembers> & Restored & Replaced;

/** What the record of a request says of its access token or its page session. */
export type CredentialDocument = Pick<IntentDocument, 'session' | 'token'>;

/** A payout of a request. */
export type ItemDocument = Read<ItemCommitments>;

/** The record of an outcome. */
export type OutcomeDocument = Read<ReturnType<typeof outcomeDocument>> & Restored;

/** A transaction of an answer. */
export type TransactionDocument = Read<ReturnType<typeof transactionDocument>>;

/** The people of an item, who can be erased. They are stored beside the record. */
export interface PersonDocument {
  email?: string | undefined;
  handle?: string | undefined;
  phone?: string | undefined;
  position: number;
  salt: string; // 16 bytes, hex
}

/** A record, and what stands beside it so that it can be erased. */
export interface WrittenIntent extends Parts {
  record: string;
  /** JSON of `PersonDocument[]`. Null if no item names anybody. */
  people: string | null;
}

export function writeIntent(intent: OpenIntent): WrittenIntent {
  const people: PersonDocument[] = [];
  const items = recordedItems(intent.items).map((item, position) => {
    const { email, handle, phone } = item;
    if ((email ?? phone ?? handle) === null) return itemDocument(item, undefined);
    const own = newSalt();
    people.push({
      email: email ?? undefined,
      handle: handle ?? undefined,
      phone: phone ?? undefined,
      position,
      salt: own.toString('hex'),
    });
    return itemDocument(item, own);
  });
  const written = {
    record: '',
    items,
    totalUsd: totalOf(intent.items)?.toFixed(),
    expectedFeeUsd: feesOf(intent.items, intent.feeRate)?.toFixed(),
    salt: newSalt(),
    people: people.length > 0 ? JSON.stringify(people) : null,
  };
  written.record = writeMembers(intent, written);
  return written;
}

/** The columns of these types take no value that JSON would escape. */
const UNESCAPED = ['uuid', 'numeric', 'date'];

/** The members of a request in their order. */
const MEMBERS = REQUEST_MEMBERS.toSorted((one, other) => (one.name < other.name ? -1 : 1)).map(
  ({ name, of, intent = '' }) => ({ start: `,"${name}":`, of, isPlain: UNESCAPED.includes(intent) }),
);

/** Texts that JSON has as they are. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Writes the members one by one, because V8 takes longer for an object whose members are added in a loop. */
function writeMembers(intent: OpenIntent, parts: Parts): string {
  let text = '';
  for (const { start, of, isPlain } of MEMBERS) {
    const value = of(intent, parts) ?? undefined;
    if (value !== undefined) text += isPlain ? `${start}"${value as string}"` : start + writeValue(value);
  }
  return `{${text.slice(1)}}`;
}

function writeValue(value: unknown): string {
  if (typeof value === 'string') return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
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
    body_commitment: commitment(salt, outcome.body)?.toString('hex'),
    content_type: asRecorded(outcome.contentType) ?? undefined,
    counted_usd: outcome.countedUsd ?? undefined, // if it is not all that was reserved
    entries: shortest(outcome.entries), // of each item, in their order
    failure: outcome.failure ?? undefined,
    intent_id: outcome.intentId,
    items: outcome.items.length > 0 ? outcome.items.map(transactionDocument) : undefined,
    kind: outcome.kind,
    recorded_at: UNSTAMPED,
    retry_after: outcome.retryAfter ?? undefined,
    sent_at: outcome.sentAt.toISOString(),
    table: 'outcome',
    tries: outcome.tries.length > 0 ? outcome.tries.map(tryDocument) : undefined,
    undelivered: outcome.undelivered || undefined, // the caller's connection closed before its answer
    upstream_ms: outcome.upstreamMs.toFixed(3),
    upstream_status: outcome.upstreamStatus ?? undefined,
  };
}

function transactionDocument(item: UpstreamItem) {
  return {
    amount_usd: item.amountUsd?.toFixed(),
    batch_ref: asRecorded(item.batchRef) ?? undefined,
    fee_usd: item.feeUsd?.toFixed(),
    payout_error: proseAsRecorded(item.payoutError ?? null) ?? undefined,
    payout_status: proseAsRecorded(item.payoutStatus ?? null) ?? undefined,
    position: item.position ?? undefined, // of its payout, if that is certain
    status: proseAsRecorded(item.status) ?? undefined,
    upstream_id: asRecorded(item.upstreamId) ?? undefined,
    upstream_ref: asRecorded(item.upstreamRef) ?? undefined,
  };
}

/** One word instead of a list of equal ones, as almost all lists are. */
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
export type SettlementDocument = Read<ReturnType<typeof settlementDocument>>;

/** An entry of a settlement. */
export type EntryDocument = SettlementDocument['entries'][number];

export function writeSettlement(settlement: RecordedSettlement): string {
  return JSON.stringify(settlementDocument(settlement));
}

function settlementDocument({ by, evidence, ...settlement }: RecordedSettlement) {
  return {
    actor: by?.actor ?? undefined,
    calls: evidence?.calls.length ? evidence.calls : undefined, // other calls that could have made the transactions
    client_id: by?.clientId,
    counted_usd: settlement.countedUsd.toFixed(),
    entries: settlement.entries.map(entryDocument),
    id: settlement.id,
    intent_id: settlement.intentId,
    key_id: by?.keyId,
    number: settlement.number,
    reads: evidence?.reads.length ? evidence.reads : undefined, // the readings of the upstream (source_read)
    reason: proseAsRecorded(settlement.reason) ?? '',
    recorded_at: UNSTAMPED,
    resolution: settlement.resolution ?? undefined,
    source: settlement.source,
    supersedes: settlement.supersedes, // the settlement before, or the call
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
