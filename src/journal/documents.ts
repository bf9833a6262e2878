import { feesOf, writeFeeRate } from '../operations/fees';
import { Item, totalOf } from '../operations/item';
import { Entry } from '../operations/settlement';
import { recordedAccount } from './recorded-account';
import { asRecorded, proseAsRecorded, queryAsRecorded } from '../platform/privacy/recorded';
import { commitment, newSalt } from '../platform/privacy/commitment';
import { UNSTAMPED } from './document-sql';
import { ephemeralKeyOf, NewOutcome, NewTry, OpenIntent, UpstreamItem } from './records';
import { recordedItems } from './recorded-items';
import { sessionDocument, tokenDocument } from './credential-documents';

/**
 * The records of requests and outcomes are documents: the text that is stored is the text that the log seals. It is
 * canonical JSON (RFC 8785). A member without a value is left out.
 *
 * `JSON.stringify` writes values as RFC 8785 does. The members below stand in its order, which sorts by UTF-16 units.
 */

/** A document as it is read, by what is written. Its texts may be any. */
export type Read<Written> = Written extends string
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
export type IntentDocument = Read<ReturnType<typeof intentDocument>> & Restored & Replaced;

/** What the record of a request says of its access token or its page session. */
export type CredentialDocument = Pick<IntentDocument, 'session' | 'token'>;

/** A payout of a request. */
export type ItemDocument = Read<ReturnType<typeof itemDocument>>;

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
export interface WrittenIntent {
  record: string;
  /** The sum of its items. Undefined if none states an amount. */
  totalUsd: string | undefined;
  /** The sum of the fees that are expected. Undefined if none are. */
  expectedFeeUsd: string | undefined;
  /** The salt of the body. */
  salt: Buffer;
  /** JSON of `PersonDocument[]`. Null if no item names anybody. */
  people: string | null;
}

export function writeIntent(intent: OpenIntent): WrittenIntent {
  const salt = newSalt();
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
  const document = intentDocument(intent, salt, items);
  return {
    record: JSON.stringify(document),
    totalUsd: document.total_usd,
    expectedFeeUsd: document.expected_fee_usd,
    salt,
    people: people.length > 0 ? JSON.stringify(people) : null,
  };
}

function intentDocument(intent: OpenIntent, salt: Buffer, items: ItemDocument[]) {
  return {
    account: recordedAccount(intent.caller.account) ?? undefined, // at the upstream
    actor_commitment: intent.person?.commitment.toString('hex'), // SHA-256(salt || name of the person)
    actor_source: intent.person?.source,
    body_commitment: commitment(salt, intent.body)?.toString('hex'), // SHA-256(salt || body as sent)
    caused_by: intent.causedBy,
    client_address: intent.clientAddress,
    client_id: intent.caller.clientId,
    coverage: intent.coverage ?? undefined,
    duplicate_of: intent.duplicateOf ?? undefined,
    earlier_call_id: intent.earlierCallId ?? undefined,
    ephemeral_key_id: ephemeralKeyOf(intent) ?? undefined,
    expected_fee: intent.feeRate ? writeFeeRate(intent.feeRate) : undefined, // of each payout, reserved with its amount
    expected_fee_usd: feesOf(intent.items, intent.feeRate)?.toFixed(),
    expires_at: intent.expiresAt?.toISOString(),
    held_for: intent.heldFor ?? undefined,
    id: intent.id,
    idempotency_key_commitment: intent.key ? commitment(intent.key.salt, intent.key.text)?.toString('hex') : undefined,
    item_count: items.length,
    items: items.length > 0 ? items : undefined, // in the order of the body
    key_id: intent.caller.keyId,
    operation: intent.operation,
    person_id: intent.person?.id,
    process: intent.process,
    query: queryAsRecorded(intent.query) ?? undefined,
    received_at: intent.receivedAt.toISOString(), // by the clock of the proxy
    recorded_at: UNSTAMPED, // by the clock of the database
    request_id: intent.requestId,
    reserved_on: intent.reservedOn ?? undefined,
    screening: intent.screening ?? undefined,
    session: sessionDocument(intent),
    table: 'intent',
    token: tokenDocument(intent),
    total_usd: totalOf(intent.items)?.toFixed(),
    traceparent: intent.traceparent,
    unexplained_transaction: intent.unexplainedTransaction ?? undefined,
  };
}

/** Commitments are SHA-256(salt || value). */
function itemDocument(item: Item, salt: Buffer | undefined) {
  const committed = (value: string | null) => (salt ? commitment(salt, value)?.toString('hex') : undefined);
  return {
    amount_usd: item.amountUsd?.toFixed(),
    country: item.country ?? undefined,
    email_commitment: committed(item.email),
    handle_commitment: committed(item.handle),
    handle_ignored: item.handleIgnored || undefined, // an email and a handle were given, so that the email is used
    network_code: item.networkCode ?? undefined,
    phone_commitment: committed(item.phone),
    receiver: item.receiver ?? undefined,
    recipient_field: item.recipientField ?? undefined,
    reference: item.reference ?? undefined,
    upstream_ref: item.upstreamRef ?? undefined,
    wallet: item.wallet ?? undefined,
  };
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
