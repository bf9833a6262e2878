import { Decimal } from 'decimal.js';
import {
  IntentDocument,
  ItemDocument,
  OutcomeDocument,
  PersonDocument,
  TransactionDocument,
  TryDocument,
} from './documents';

/** A recorded request. Everything in it but the people comes from the sealed text. */
export interface RecordedIntent {
  id: string;
  clientId: string;
  keyId: string;
  operation: string;
  requestId: string;
  traceparent: string | null;
  clientAddress: string;
  query: string | null;
  itemCount: number;
  totalUsd: Decimal | null;
  bodyCommitment: Buffer | null;
  receivedAt: Date;
  recordedAt: Date;
  coverage: string | null;
  causedBy: string | null;
  duplicateOf: string | null;
  idempotencyKey: string | null;
  actor: string | null;
  heldFor: string | null;
  expiresAt: Date | null;
  process: number;
  items: RecordedItem[];
}

/** A recorded payout. `recipient` is null if it names nobody, or if the person was erased. */
export interface RecordedItem {
  position: number;
  recipientField: string | null;
  handleIgnored: boolean;
  amountUsd: Decimal | null;
  country: string | null;
  networkCode: string | null;
  reference: string | null;
  receiver: string | null;
  wallet: string | null;
  upstreamRef: string | null;
  emailCommitment: Buffer | null;
  phoneCommitment: Buffer | null;
  handleCommitment: Buffer | null;
  recipient: RecordedRecipient | null;
}

export interface RecordedRecipient {
  salt: Buffer;
  email: string | null;
  phone: string | null;
  handle: string | null;
}

/** A recorded outcome. */
export interface RecordedOutcome {
  kind: string;
  failure: string | null;
  upstreamStatus: number | null;
  contentType: string | null;
  /** Seconds. */
  retryAfter: number | null;
  bodyCommitment: Buffer | null;
  sentAt: Date;
  answeredAt: Date;
  upstreamMs: Decimal;
  recordedAt: Date;
  answerOf: string | null;
  attempts: number;
  tries: TryDocument[];
  items: RecordedTransaction[];
}

/** A transaction of a recorded answer. */
export interface RecordedTransaction {
  ordinal: number;
  /** The position of its item, if that is certain. */
  position: number | null;
  upstreamRef: string | null;
  upstreamId: string | null;
  batchRef: string | null;
  status: string | null;
  amountUsd: Decimal | null;
}

/**
 * Reads the record of a request.
 * @param people the people beside it, as JSON. Null if it names nobody, or if all of them were erased.
 */
export function readIntent(record: string, people: string | null): RecordedIntent {
  const document = JSON.parse(record) as IntentDocument;
  const recipients = people === null ? [] : (JSON.parse(people) as PersonDocument[]);
  const byPosition = new Map(recipients.map((person) => [person.position, person]));
  return {
    id: document.id,
    clientId: document.client_id,
    keyId: document.key_id,
    operation: document.operation,
    requestId: document.request_id,
    traceparent: document.traceparent ?? null,
    clientAddress: document.client_address,
    query: document.query ?? null,
    itemCount: document.item_count,
    totalUsd: toDecimal(document.total_usd),
    bodyCommitment: toBytes(document.body_commitment),
    receivedAt: new Date(document.received_at),
    recordedAt: new Date(document.recorded_at),
    coverage: document.coverage ?? null,
    causedBy: document.caused_by ?? null,
    duplicateOf: document.duplicate_of ?? null,
    idempotencyKey: document.idempotency_key ?? null,
    actor: document.actor ?? null,
    heldFor: document.held_for ?? null,
    expiresAt: document.expires_at === undefined ? null : new Date(document.expires_at),
    process: document.process,
    items: (document.items ?? []).map((item, position) => toItem(item, position, byPosition.get(position))),
  };
}

function toItem(item: ItemDocument, position: number, person: PersonDocument | undefined): RecordedItem {
  return {
    position,
    recipientField: item.recipient_field ?? null,
    handleIgnored: item.handle_ignored ?? false,
    amountUsd: toDecimal(item.amount_usd),
    country: item.country ?? null,
    networkCode: item.network_code ?? null,
    reference: item.reference ?? null,
    receiver: item.receiver ?? null,
    wallet: item.wallet ?? null,
    upstreamRef: item.upstream_ref ?? null,
    emailCommitment: toBytes(item.email_commitment),
    phoneCommitment: toBytes(item.phone_commitment),
    handleCommitment: toBytes(item.handle_commitment),
    recipient: person ? toRecipient(person) : null,
  };
}

function toRecipient({ salt, email, phone, handle }: PersonDocument): RecordedRecipient {
  return { salt: Buffer.from(salt, 'hex'), email: email ?? null, phone: phone ?? null, handle: handle ?? null };
}

/** Reads the record of an outcome. */
export function readOutcome(record: string): RecordedOutcome {
  const document = JSON.parse(record) as OutcomeDocument;
  return {
    kind: document.kind,
    failure: document.failure ?? null,
    upstreamStatus: document.upstream_status ?? null,
    contentType: document.content_type ?? null,
    retryAfter: document.retry_after ?? null,
    bodyCommitment: toBytes(document.body_commitment),
    sentAt: new Date(document.sent_at),
    answeredAt: new Date(document.answered_at),
    upstreamMs: new Decimal(document.upstream_ms),
    recordedAt: new Date(document.recorded_at),
    answerOf: document.answer_of ?? null,
    attempts: document.attempts,
    tries: document.tries ?? [],
    items: (document.items ?? []).map(toTransaction),
  };
}

function toTransaction(item: TransactionDocument, ordinal: number): RecordedTransaction {
  return {
    ordinal,
    position: item.position ?? null,
    upstreamRef: item.upstream_ref ?? null,
    upstreamId: item.upstream_id ?? null,
    batchRef: item.batch_ref ?? null,
    status: item.status ?? null,
    amountUsd: toDecimal(item.amount_usd),
  };
}

function toDecimal(text: string | undefined): Decimal | null {
  return text === undefined ? null : new Decimal(text);
}

function toBytes(hex: string | undefined): Buffer | null {
  return hex === undefined ? null : Buffer.from(hex, 'hex');
}
