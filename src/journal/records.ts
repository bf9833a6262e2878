import { Resolution } from '../operations/lifecycle';
import { Decimal } from 'decimal.js';
import { Item } from '../operations/item';

/** What the journal needs to know of a request; `Call` has it. */
export interface Origin {
  id: string;
  requestId: string;
  traceparent: string | undefined;
  clientAddress: string;
  receivedAt: Date;
  caller: { clientId: string; keyId: string };
  /** For whom the caller asks. */
  actor: string | null;
}

/** Whether the countries and networks of a call's items were found in the upstream's lists. */
export type Coverage = 'checked' | 'unchecked';

/** What is about to be sent. */
export interface NewIntent extends Origin {
  operation: string;
  query: string | null;
  /** The bytes as they will leave; null where none do. */
  body: Buffer | null;
  items: Item[];
  /** Null where there is nothing to look up. */
  coverage: Coverage | null;
  /** The call for whose sake the proxy asks by itself. */
  causedBy?: string | undefined;
}

/** One transaction that the upstream's answer names. */
export interface UpstreamItem {
  /** Of the item it belongs to, where that is certain. */
  position: number | null;
  upstreamRef: string | null;
  upstreamId: string | null;
  batchRef: string | null;
  status: string | null;
  amountUsd: Decimal | null;
}

/** One go at sending a request. */
export interface NewTry {
  startedAt: Date;
  ms: number;
  /** How far it came (src/gateway/upstream/undici-adapter.ts). */
  phase: string;
  status: number | null;
  failure: string | null;
}

/** What came of an intent. */
export interface NewOutcome {
  intentId: string;
  kind: 'succeeded' | 'rejected' | 'not_sent' | 'unknown';
  failure: string | null;
  upstreamStatus: number | null;
  contentType: string | null;
  /** Seconds, as the upstream asked. */
  retryAfter: number | null;
  body: Buffer | null;
  items: UpstreamItem[];
  sentAt: Date;
  answeredAt: Date;
  upstreamMs: number;
  /** The call that fetched this answer, if this one sent nothing: its body is kept with that call. */
  answerOf: string | null;
  /** How often it was sent: more than once only what reads. */
  attempts: number;
  /** How each of them went; none where another call fetched the answer. */
  tries: NewTry[];
}

/** A request of a known caller that was not let through. */
export interface NewRefusal extends Origin {
  operation: string;
  status: number;
  code: string;
  detail: string;
  idempotencyKey: string | null;
  /** The call that it repeats. */
  firstCallId: string | null;
  /** The first faults, as a Problem keeps them. */
  faults: { pointer: string; detail: string }[];
  faultsTotal: number;
}

/** An answer whose structure is news. */
export interface NewShape {
  operation: string;
  httpStatus: number;
  /** SHA-256. */
  fingerprint: Buffer;
  /** Names no value (src/gateway/upstream/shape.ts). */
  shape: unknown;
  callId: string;
}

/** Somebody who decides about a call that others asked for. */
export interface Decider {
  clientId: string;
  keyId: string;
  /** The person whose key it is; null if it is nobody's. */
  actor: string | null;
}

/** What a call in doubt turned out to be: carried out, or not. */
export interface NewResolution {
  intentId: string;
  /** The resolution that a person corrects by this one; a first one has the id of its call. Null: this is the first. */
  supersedes: string | null;
  outcome: Resolution;
  reason: string;
  /** Null: the proxy found it out by itself; its verdict says how. */
  by: Decider | null;
}

/** What the upstream's own lists say about a call in doubt. */
export interface NewVerdict {
  intentId: string;
  verdict: Resolution | 'ambiguous';
  /** A sentence of ours. */
  reason: string;
  evidence: VerdictEvidence;
}

/** Names nobody: it is kept for ever. */
export interface VerdictEvidence {
  /** The looks at the upstream (source_read). */
  reads: string[];
  transactions: VerdictTransaction[];
  /** Other calls of ours that could have made these transactions. */
  calls: string[];
}

/** A transaction by which a call was judged. */
export interface VerdictTransaction {
  read_id: string;
  ordinal: number;
  /** Of the item that it is; null where that is not certain. */
  position: number | null;
  upstream_ref: string | null;
  upstream_id: string | null;
  batch_ref: string | null;
  at: string | null;
  status: string | null;
  amount_usd: string | null;
}

/** What the upstream told by itself. */
export interface NewUpstreamEvent {
  /** UUIDv7, of the record. */
  id: string;
  /** As signed. */
  eventId: string;
  eventType: string | null;
  batchRef: string | null;
  upstreamId: string | null;
  upstreamRef: string | null;
  status: string | null;
  amountUsd: Decimal | null;
  signedAt: Date;
}

/** Whether a held call may be sent. */
export interface NewDecision {
  intentId: string;
  reason: string;
  /** Of the body that was decided about. */
  bodyCommitment: Uint8Array<ArrayBuffer> | null;
  by: Decider;
  /** That sends it, if it is approved. */
  process: number;
}
