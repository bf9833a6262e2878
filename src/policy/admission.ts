import { Decimal } from 'decimal.js';
import { AdmissionLimitKey, Limits } from '../access/clients/limits/limits';
import { Item } from '../operations/items/item';
import { Caps, OverCap, PayerCaps, UnknownPayer } from './limits/caps';
import { Forbidden, NamedRecipient, Register, RegisterRules } from './limits/beneficiaries';
import { HeldFor, Hold } from './limits/holds';
import { Payment, RecipientDays } from './limits/recipient-days';
import { SameContent } from './same-content';
import { Stop } from './limits/stops';

/** A request that pays or creates something, with everything that decides whether it may be sent. */
export interface AdmissionRequest {
  /** The ID of its call. */
  id: string;
  clientId: string;
  operation: string;
  items: Item[];
  /** The end user who makes it. Their idempotency keys and contents are their own. Null for the requests of servers. */
  endUserId: string | null;
  /** Whose caps it counts against, besides its client's: its person, and its ephemeral key. */
  payers: string[];
  idempotencyKey: string | null;
  /** The call that it repeats intentionally, as the app states (`Allow-Duplicate-Of`). */
  allowDuplicateOf: string | null;
  /** Its body in normal form (normal-form.ts), which is the same if the request is sent again, in any spelling. */
  content: string;
  /**
   * Whether it breaks a rule by itself, such as a limit of its client. The only answer that it can still get is the
   * replay of an earlier call.
   */
  overOwnLimit: boolean;
  /**
   * In how many seconds the upstream is tried again, because its circuit is open. Meanwhile the request may be held or
   * replayed, but not admitted. Null if it may be sent now.
   */
  sendableInSeconds: number | null;
  /** The amount that counts against the caps. Null if nothing does. */
  usd: Decimal | null;
  /** The fees of the upstream that are expected. They are reserved with `usd`. Null for none. */
  feeUsd: Decimal | null;
  /** Why it needs an approval, independently of other calls. Null if it does not. */
  heldFor: HeldFor | null;
  /** The recipients that its items name. Null if its client uses no register. */
  recipients: NamedRecipient[] | null;
  /** What it pays to each recipient. Null if no limit of its client depends on earlier payments. */
  payments: Payment[] | null;
}

/** A client's limits that depend on other calls, and the amounts that count against them. */
export interface Budget extends Pick<Limits, AdmissionLimitKey>, RegisterRules, Caps {
  /** The sum of its calls that wait for an approval. Read only if `approvalOverDayUsd` needs it. */
  heldUsd: Decimal;
}

/** The call that has a key, and whether its content is the same. */
export interface Claim {
  callId: string;
  sameContent: boolean;
}

/**
 * The state at the moment of the decision. Until the decision is committed, no other admission changes the claims,
 * duplicates and budgets of these clients. A stop may be added meanwhile, and does not undo the decision (see
 * `isStopped` of the journal).
 */
export interface State {
  /**
   * The call that has a request's key, by the request's ID. Calls that were provably never carried out are left out.
   */
  claims: Map<string, Claim>;
  /** Calls with the same content that have paid or may still pay, by the request's ID, newest first. */
  sameContent: Map<string, SameContent[]>;
  /** Requests whose recipient and amount another client had a short time ago. */
  seenAcrossClients: Set<string>;
  /**
   * Requests whose recipient and amount the upstream has paid in a time whose records are lost, each with the transaction
   * of that payment, which no call explains.
   */
  unexplained: Map<string, string>;
  /** What the recipients of these requests got. */
  recipients: RecipientDays;
  /** The entries of the registers that these requests name. */
  register: Register;
  stops: Stop[];
  /** By client ID. */
  budgets: Map<string, Budget>;
  /** The caps of persons and of ephemeral keys, by their IDs. Null if the statement that writes the calls compares them. */
  payers: Map<string, PayerCaps> | null;
  guards: Guards;
}

/** The optional guards that are enabled. */
export interface Guards {
  duplicates: boolean;
  /** How many seconds after its answer a call without a key still makes a repeated request suspected. */
  windowSeconds: number;
  acrossClients: boolean;
}

export type Ruling = Opened | Obstacle;

/** A call that is sent now, or after its approval. */
export type Opened = ({ kind: 'admitted' } | ({ kind: 'held' } & Hold)) & {
  /** The earlier call with the same content, which the request named. */
  duplicateOf?: string;
};

/** Why a call is not carried out. */
export type Obstacle =
  | { kind: 'over_own_limit' }
  /** The answer of the first call is also the answer of this one. */
  | { kind: 'repeated'; firstCallId: string }
  | { kind: 'key_reused'; firstCallId: string }
  | { kind: 'duplicate'; first: SameContent }
  | { kind: 'stopped'; stop: Stop }
  /** The client may not pay these recipients. */
  | ({ kind: 'recipient_not_allowed' } & Forbidden)
  | OverCap
  | UnknownPayer
  /** The recipients of these items would get more than the client may pay to one recipient in a day. */
  | { kind: 'over_recipient_cap'; capUsd: Decimal; positions: number[] }
  /** The upstream fails most requests of the operation. Only a call that would be sent now has this obstacle. */
  | { kind: 'circuit_open'; retryAfter: number };

/** An obstacle that has an error of its own. A repeated request gets its first answer, and a limit has its own error. */
export type RefusingObstacle = Exclude<Obstacle, { kind: 'over_own_limit' | 'repeated' | 'key_reused' }>;
