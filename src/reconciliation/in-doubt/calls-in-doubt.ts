import { NewVerdict } from '../../journal/records';

/** One item of a call. */
export interface Wanted {
  position: number;
  /** Keys (recipients.ts) of whom it pays; none where that person was erased. */
  payee: string[];
  /** Keys of all whom it names. */
  names: string[];
  /** With six decimals, so that equal amounts are equal texts. */
  amountUsd: string | null;
  reference: string | null;
  /** Of the transaction that it deletes or redeems. */
  upstreamRef: string | null;
}

/** A call that may have been carried out. */
export interface SentCall {
  id: string;
  operation: string;
  items: Wanted[];
  /** When it may have reached the upstream first … */
  sentFrom: Date;
  /** … and when it was given up. */
  sentUntil: Date;
}

/** A transaction as the upstream's listing has it. */
export interface Seen {
  readId: string;
  ordinal: number;
  upstreamRef: string | null;
  upstreamId: string | null;
  batchRef: string | null;
  issuedAt: Date | null;
  type: string | null;
  status: string | null;
  /** With six decimals, so that equal amounts are equal texts. */
  amountUsd: string | null;
  names: string[];
  /** In the forms in which records may have it; none where it has none. */
  references: string[];
}

/** What the upstream says of the one transaction that a call deletes or redeems. */
export interface Lookup {
  readId: string;
  askedAt: Date;
  /** The operation of ours that made the transaction; null if our records name none. */
  madeBy: string | null;
  /** Null: it says that there is none. */
  seen: Seen | null;
}

export interface Rules {
  /** So long after a call was given up, what is not listed never comes. */
  quietMs: number;
  /** By how much the upstream's clock may be wrong. */
  skewMs: number;
}

/** What was found out about a call in doubt. */
export type Verdict = Omit<NewVerdict, 'intentId'>;
