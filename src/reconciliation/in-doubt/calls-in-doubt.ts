import { Transaction } from '../../gateway/upstream/transactions';
import { NewVerdict } from '../../journal/resolver-verdicts';
import { Status } from '../../operations/statuses';

/** One item of a call. */
export interface Wanted {
  position: number;
  /** Keys (recipients.ts) of the recipient. Empty if that person was erased. */
  payee: string[];
  /** Keys of everybody whom the item names. */
  names: string[];
  /** With six decimals, so that equal amounts are equal texts. */
  amountUsd: string | null;
  reference: string | null;
  /** The reference of the transaction that it deletes or redeems. */
  upstreamRef: string | null;
}

/** A call that may have been carried out. */
export interface SentCall {
  id: string;
  operation: string;
  items: Wanted[];
  /** The earliest time at which it may have reached the upstream. */
  sentFrom: Date;
  /** The time at which the proxy stopped waiting for it. */
  sentUntil: Date;
  /** Whether the upstream answered that it rejects the call. It may have carried it out all the same. */
  isRejected: boolean;
}

/** A transaction in the upstream's listing. */
export interface Seen extends Pick<
  Transaction,
  'upstreamRef' | 'upstreamId' | 'batchRef' | 'issuedAt' | 'type' | 'status'
> {
  readId: string;
  ordinal: number;
  /** What the word means. Undefined if there is none, or if it was never heard of. */
  meaning: Status | undefined;
  /** With six decimals, so that equal amounts are equal texts. */
  amountUsd: string | null;
  names: string[];
  /** The reference in the forms that records may have. Empty if there is none. */
  references: string[];
  /** The call of ours whose ID the reference is. Null if there is none. */
  madeFor: string | null;
}

/** The transactions of one batch. One request creates one batch (docs/reference/upstream.md, "Identifiers"). */
export type Batch = Seen[];

/** The upstream's data about the one transaction that a call deletes or redeems. */
export interface Lookup {
  readId: string;
  askedAt: Date;
  /** Our operation that created the transaction. Null if our records name none. */
  madeBy: string | null;
  /** Null if the upstream says that there is no such transaction. */
  seen: Seen | null;
}

export interface Rules {
  /** The quiet period. A transaction that is not listed so long after the proxy stopped waiting is never listed. */
  quietMs: number;
  /** The quiet period after an answer that rejects the call, if it is shorter. The upstream has finished by then. */
  rejectedQuietMs: number;
  /** The most that the upstream's clock may be wrong. */
  skewMs: number;
}

/** The conclusion about a call in doubt. */
export type Verdict = Omit<NewVerdict, 'intentId'>;
