import { Decimal } from 'decimal.js';
import { Author } from '../../access/auth/call';
import { Caller } from '../../access/callers/caller';
import { CallPerson } from '../../access/people/person';
import { Instant } from '../../continuity/heartbeat/instant';
import { FeeRule } from '../../operations/items/fees';
import { Difference, Item } from '../../operations/items/item';
import { Resolution } from '../../operations/lifecycle/lifecycle';
import { Account, Entry, Source } from '../../operations/lifecycle/settlement';
import { asRecorded, proseAsRecorded } from '../../platform/privacy/recorded';
import { HeldFor } from '../../policy/limits/holds';
import { Payment } from '../../policy/limits/recipient-days';

/** The fields of a request that the journal needs. `Call` implements it. */
export interface Origin {
  id: string;
  operation: string;
  requestId: string;
  traceparent: string | undefined;
  clientAddress: string;
  receivedAt: Date;
  caller: Pick<Caller, 'account' | 'clientId' | 'credential' | 'keyId' | 'rights'>;
  /** The requester's person. The record omits the name. */
  person: Pick<CallPerson, 'id' | 'sha256' | 'commitment' | 'source' | 'acting'> | null;
}

/** Whether the upstream's lists confirmed the countries and networks of the items. */
export type Coverage = 'checked' | 'unchecked';

/** The screening verdicts that allow a call to be sent, now or after an approval. */
export const SCREENED = ['allow', 'review'] as const;
export type Screened = (typeof SCREENED)[number];

/** Returns the ID of the request's ephemeral key. Null for another credential. */
export function ephemeralKeyOf({ caller: { credential } }: Pick<Origin, 'caller'>): string | null {
  return credential.kind === 'ephemeral' ? credential.id : null;
}

/**
 * Returns an idempotency key as stored in its claim. The keys of each end user are separate. No key has a
 * space. Mirrors the SQL function scoped_key().
 * @param endUserId the end user of the key. Null for the key of a server.
 */
export function claimKey(endUserId: string | null, key: string): string {
  return endUserId === null ? key : `${endUserId} ${key}`;
}

/** A call that is about to be sent. */
export interface NewIntent extends Origin {
  query: string | null;
  /** The bytes to send. Null without a body. */
  body: Buffer | null;
  items: Item[];
  /** Null if the operation has no lists. */
  coverage: Coverage | null;
  /** Null without a screening service. */
  screening: Screened | null;
  /** Whether it is sent in its turn, unless it needs an approval (`Prefer: respond-async`). */
  respondAsync?: boolean | undefined;
  /** The call that made the proxy send this request. */
  causedBy?: string | undefined;
}

/** The idempotency key of a call. The call claims it, with its content. */
export interface ClaimedKey {
  text: string;
  /** Its text in the claim. See {@link claimKey}. */
  claimed: string;
  salt: Buffer;
  /** SHA-256(salt || content). */
  contentHash: Buffer | null;
}

/** An intent to commit, with the data that protects money. A read has none. */
export interface OpenIntent extends NewIntent {
  /** Number of the process that works on it. */
  process: number;
  key?: ClaimedKey | null;
  heldFor?: HeldFor | null;
  /** The latest earlier call with an equal payment, the reason for the hold. */
  earlierCallId?: string | null;
  /** The transaction of a recovery gap that may have paid it, for `unexplained_payment`. */
  unexplainedTransaction?: string | null;
  expiresAt?: Date | null;
  /** The fee to reserve with each payout. Null if none is expected. */
  feeRule?: FeeRule | null;
  /** The day (UTC, `2026-11-21`) of its cap. */
  reservedOn?: string | null;
  /** The call that it repeats on purpose. */
  duplicateOf?: string | null;
  /** The contents to detect repetitions by (content-keys.ts). Its own content is the first. */
  contents?: Buffer[];
  /** Its payments by recipient. Null if no client limit depends on earlier payments. */
  payments?: Payment[] | null;
}

/** A transaction in the upstream's answer. */
export interface UpstreamItem {
  /** Position of its item. Null if uncertain. */
  position: number | null;
  upstreamRef: string | null;
  upstreamId: string | null;
  batchRef: string | null;
  status: string | null;
  amountUsd: Decimal | null;
  feeUsd: Decimal | null;
  /** Status of the handover to the telco, if stated. */
  payoutStatus?: string | null;
  /** Error of the handover. */
  payoutError?: string | null;
  /**
   * The properties in which it differs from its item, or that it does not state. Without an item, those that
   * contradict the items left.
   */
  differs?: Difference[] | undefined;
}

/** One attempt to send a request. */
export interface NewTry {
  startedAt: Date;
  ms: number;
  /** Last phase of the attempt (src/gateway/upstream/transport/undici-adapter.ts). */
  phase: string;
  status: number | null;
  failure: string | null;
}

/** The outcome of an intent. */
export interface NewOutcome {
  intentId: string;
  kind: 'succeeded' | 'rejected' | 'not_sent' | 'unknown';
  failure: string | null;
  upstreamStatus: number | null;
  contentType: string | null;
  /** Delay in seconds, as the upstream requested. */
  retryAfter: number | null;
  body: Buffer | null;
  items: UpstreamItem[];
  /** Entry of each item. Undefined if the items are no payouts. */
  entries?: Entry[] | undefined;
  /** Amount that counts on the caps after this answer. Null if the whole reservation counts. */
  countedUsd?: string | null | undefined;
  sentAt: Date;
  answeredAt: Date;
  upstreamMs: number;
  /** The call whose cached answer was used. That call stores the body. Null if a request was sent. */
  answerOf: string | null;
  /** Number of attempts. Only reads are sent more than once. */
  attempts: number;
  /** The attempts. Empty if another call fetched the answer. */
  tries: NewTry[];
  /** Whether the caller's connection closed before the answer was handed over. */
  undelivered?: boolean | undefined;
}

/** Entries of payouts after the request and the answer. */
export interface NewSettlement {
  intentId: string;
  source: Source;
  /** A sentence, by the proxy or by a person. */
  reason: string;
  /** Undefined or null if the proxy settles by itself. */
  by?: Author | null;
  entries: NewEntry[];
  /** For a call without payouts. Otherwise derived from the entries. */
  resolution?: Resolution;
  evidence?: {
    /** The listings that were read (source_read). */
    reads: string[];
    /** Other calls that could have made the transactions. */
    calls: string[];
  };
  /** Whether the caller's connection closed before the answer was handed over, if the outcome lacks it. */
  undelivered?: boolean;
}

/** A settled entry of one payout. `fee` is the total charge of the upstream for it. */
export interface NewEntry {
  position: number;
  entry: Entry | 'fee';
  /** Undefined for the amount of the item. */
  amountUsd?: Decimal;
  /** The upstream's transaction. Undefined without one as evidence. */
  transaction?: TransactionEvidence | undefined;
}

/** A transaction of the upstream, without names of people. */
export interface TransactionEvidence {
  upstream_ref: string | null;
  upstream_id: string | null;
  batch_ref: string | null;
  at: string | null;
  status: string | null;
}

/** A settlement as it is recorded. */
export interface RecordedSettlement extends Omit<NewSettlement, 'entries'> {
  id: string;
  number: number;
  /** ID of the previous settlement, or of the call. */
  supersedes: string;
  entries: RecordedEntry[];
  countedUsd: Decimal;
}

export interface RecordedEntry extends Omit<NewEntry, 'amountUsd'> {
  amountUsd: Decimal | null;
  from: Account;
  to: Account;
}

/** A rejected request of a known caller. */
export interface NewRefusal extends Origin {
  status: number;
  code: string;
  detail: string;
  idempotencyKey: string | null;
  /** The call that it repeats. */
  firstCallId: string | null;
  /** The first faults, as a Problem stores them. */
  faults: { pointer: string; detail: string }[];
  faultsTotal: number;
}

/**
 * When a call was released, by the clocks of this process. Read before the committing statement is issued.
 * The database's own time (`recorded_at`, `decided_at`) is therefore never earlier, even if the process
 * freezes before it learns of the commit.
 */
export type Release = Instant;

/** Returns a transaction of the upstream in recorded form, with contacts masked. */
export function evidenceOfTransaction(
  {
    upstreamRef,
    upstreamId,
    batchRef,
    status,
  }: Pick<UpstreamItem, 'upstreamRef' | 'upstreamId' | 'batchRef' | 'status'>,
  at: Date | null,
): TransactionEvidence {
  return {
    upstream_ref: asRecorded(upstreamRef),
    upstream_id: asRecorded(upstreamId),
    batch_ref: asRecorded(batchRef),
    at: at?.toISOString() ?? null,
    status: proseAsRecorded(status),
  };
}
