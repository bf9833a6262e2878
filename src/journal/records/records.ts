import { Decimal } from 'decimal.js';
import { Caller } from '../../access/callers/caller';
import { CallPerson } from '../../access/people/person';
import { FeeRate } from '../../operations/items/fees';
import { Item } from '../../operations/items/item';
import { Resolution } from '../../operations/lifecycle/lifecycle';
import { Account, Entry, Source } from '../../operations/lifecycle/settlement';
import { HeldFor } from '../../policy/limits/holds';
import { Payment } from '../../policy/limits/recipient-days';
import { Author } from '../../access/auth/call';
import { Instant } from '../../continuity/heartbeat/instant';
import { asRecorded, proseAsRecorded } from '../../platform/privacy/recorded';

/** The fields of a request that the journal needs. `Call` has them. */
export interface Origin {
  id: string;
  operation: string;
  requestId: string;
  traceparent: string | undefined;
  clientAddress: string;
  receivedAt: Date;
  caller: Pick<Caller, 'account' | 'clientId' | 'credential' | 'keyId' | 'rights'>;
  /** The person who requested it, whose name is not in the record. */
  person: Pick<CallPerson, 'id' | 'sha256' | 'commitment' | 'source' | 'acting'> | null;
}

/** Whether the countries and networks of the items were found in the upstream's lists. */
export type Coverage = 'checked' | 'unchecked';

/** The verdicts of the screening service after which a call may be sent: now, or after an approval. */
export const SCREENED = ['allow', 'review'] as const;
export type Screened = (typeof SCREENED)[number];

/** Returns the ID of the ephemeral key that a request came with. Null if it came with something else. */
export function ephemeralKeyOf({ caller: { credential } }: Pick<Origin, 'caller'>): string | null {
  return credential.kind === 'ephemeral' ? credential.id : null;
}

/**
 * Returns an idempotency key as its claim has it. Those of end users are their own. No key has a space. The SQL function scoped_key()
 * does the same.
 * @param endUserId the end user whose key it is. Null for the key of a server.
 */
export function claimKey(endUserId: string | null, key: string): string {
  return endUserId === null ? key : `${endUserId} ${key}`;
}

/** A call that is about to be sent. */
export interface NewIntent extends Origin {
  query: string | null;
  /** The bytes to send. Null if there is no body. */
  body: Buffer | null;
  items: Item[];
  /** Null if the operation has no lists. */
  coverage: Coverage | null;
  /** Null if no service was asked. */
  screening: Screened | null;
  /** The call that caused the proxy to make this request. */
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

/** An intent that will be committed, with the data that keeps money safe. A read has no such data. */
export interface OpenIntent extends NewIntent {
  /** The number of the process that works on it. */
  process: number;
  key?: ClaimedKey | null;
  heldFor?: HeldFor | null;
  /** The latest earlier call with an equal payment, because of which it is held. */
  earlierCallId?: string | null;
  /** The transaction of a lost time that may have paid it already, for `unexplained_payment`. */
  unexplainedTransaction?: string | null;
  expiresAt?: Date | null;
  /** The fee that is reserved with each of its payouts. Null if none is expected. */
  feeRate?: FeeRate | null;
  /** The day (UTC, `2026-11-21`) whose cap it counts against. */
  reservedOn?: string | null;
  /** The call that it repeats on purpose. */
  duplicateOf?: string | null;
  /** The contents to remember (content-keys.ts), so that repetitions are detected. Its own content is the first. */
  contents?: Buffer[];
  /** What it pays to each recipient. Null if no limit of its client depends on earlier payments. */
  payments?: Payment[] | null;
}

/** A transaction in the upstream's answer. */
export interface UpstreamItem {
  /** The position of its item, if that is certain. */
  position: number | null;
  upstreamRef: string | null;
  upstreamId: string | null;
  batchRef: string | null;
  status: string | null;
  amountUsd: Decimal | null;
  feeUsd: Decimal | null;
  /** The status of handing it to the telco, if the answer states one. */
  payoutStatus?: string | null;
  /** Why that failed. */
  payoutError?: string | null;
}

/** One attempt to send a request. */
export interface NewTry {
  startedAt: Date;
  ms: number;
  /** How far it got (src/gateway/upstream/transport/undici-adapter.ts). */
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
  /** Seconds, as the upstream requested. */
  retryAfter: number | null;
  body: Buffer | null;
  items: UpstreamItem[];
  /** What became of each item of the call. Undefined if its items are no payouts. */
  entries?: Entry[] | undefined;
  /** What of the call counts on its caps after this answer. Null if all that was reserved counts. */
  countedUsd?: string | null | undefined;
  sentAt: Date;
  answeredAt: Date;
  upstreamMs: number;
  /** The call whose cached answer was used, if this one sent nothing. That call stores the body. */
  answerOf: string | null;
  /** The number of attempts. Only reads are sent more than once. */
  attempts: number;
  /** Each attempt. Empty if another call fetched the answer. */
  tries: NewTry[];
  /** Whether the caller's connection closed before the answer was handed over. */
  undelivered?: boolean | undefined;
}

/** What became of payouts, after the request and the answer. */
export interface NewSettlement {
  intentId: string;
  source: Source;
  /** A sentence of the proxy, or of the person. */
  reason: string;
  /** None if the proxy settles by itself. */
  by?: Author | null;
  entries: NewEntry[];
  /** For a call without payouts. Otherwise it follows from the entries. */
  resolution?: Resolution;
  evidence?: {
    /** The listings that were read (source_read). */
    reads: string[];
    /** Other calls that could have made the transactions. */
    calls: string[];
  };
  /** Whether the caller's connection closed before the answer was handed over, as its outcome does not say yet. */
  undelivered?: boolean;
}

/** What became of one payout. `fee` is what the upstream charges for it, in all. */
export interface NewEntry {
  position: number;
  entry: Entry | 'fee';
  /** Undefined: the amount of the item. */
  amountUsd?: Decimal;
  /** The upstream's transaction. Undefined if the entry is based on none. */
  transaction?: TransactionEvidence | undefined;
}

/** A transaction of the upstream, without the people it names. */
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
  /** The ID of the settlement before, or of the call. */
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
 * When a call was released to be sent, by the clocks of this process. It is read before the committing statement is
 * issued. The database's own time (`recorded_at`, `decided_at`) is therefore never earlier, however long the process is
 * frozen before it learns of the commit.
 */
export type Release = Instant;

/** Returns a transaction of the upstream as records keep it: anything that looks like a contact is masked. */
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
