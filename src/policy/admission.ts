import { Decimal } from 'decimal.js';
import { AdmissionLimitKey, Limits } from '../access/clients/limits/limits';
import { Item } from '../operations/items/item';
import { ForbiddenRecipients, NamedRecipient, Register, RegisterRules } from './limits/beneficiaries';
import { Caps, OverCap, PayerCaps, UnknownPayer } from './limits/caps';
import { HeldFor, Hold } from './limits/holds';
import { Payment, RecipientDays } from './limits/recipient-days';
import { Stop } from './limits/stops';
import { SameContent } from './same-content';

/** A request that pays or creates something, with all inputs of its admission. */
export interface AdmissionRequest {
  /** The ID of its call. */
  id: string;
  clientId: string;
  /** The upstream account of its client. */
  account: string;
  operation: string;
  items: Item[];
  /** The requesting end user, with separate idempotency keys and contents. Null for requests of servers. */
  endUserId: string | null;
  /** The payers whose caps it counts against, besides its client: its person and its ephemeral key. */
  payers: string[];
  idempotencyKey: string | null;
  /** The call that it repeats intentionally, from `Allow-Duplicate-Of`. Null without one. */
  allowDuplicateOf: string | null;
  /** Its body in normal form (normal-form.ts). Equal for the same request in any spelling. */
  content: string;
  /** Whether it breaks a rule by itself, such as a limit of its client. It can only get a replay. */
  overOwnLimit: boolean;
  /**
   * Seconds until the upstream is tried again, because its circuit is open. Until then, the request may be
   * held or replayed, but not admitted. Null if it may be sent now, or in its turn.
   */
  sendableInSeconds: number | null;
  /** Amount that counts on the caps. Null if none counts. */
  usd: Decimal | null;
  /** Expected fees of the upstream, reserved with `usd`. Null if none are expected. */
  feeUsd: Decimal | null;
  /** Reason for an approval, independently of other calls. Null without one. */
  heldFor: HeldFor | null;
  /** The recipients of its items. Null if its client uses no register. */
  recipients: NamedRecipient[] | null;
  /** Its payments by recipient. Null if no client limit depends on earlier payments. */
  payments: Payment[] | null;
}

/** The limits of a client that depend on other calls, and the amounts that count on them. */
export interface Budget extends Pick<Limits, AdmissionLimitKey>, RegisterRules, Caps {
  /** Sum of its calls that wait for an approval. Read only for `approvalOverDayUsd`. */
  heldUsd: Decimal;
}

/** The call that holds a key, and whether its content is the same. */
export interface Claim {
  callId: string;
  sameContent: boolean;
}

/**
 * The state at the moment of the decision. No other admission changes the claims, duplicates and budgets of
 * these clients before the decision is committed. A stop may be added meanwhile, and does not undo the
 * decision (see `isStopped` of the journal).
 */
export interface State {
  /** The call that holds a request's key, by the request's ID. Omits calls that were not executed. */
  claims: Map<string, Claim>;
  /** Calls with the same content that were paid or may still be paid, by the request's ID, newest first. */
  sameContent: Map<string, SameContent[]>;
  /** Requests whose recipient and amount another client paid recently. */
  seenAcrossClients: Set<string>;
  /** The unexplained transactions with the recipient and amount of a request, by the request's ID. */
  unexplained: Map<string, string>;
  /** The totals of these requests' recipients. */
  recipients: RecipientDays;
  /** The register entries that these requests name. */
  register: Register;
  stops: Stop[];
  /** By client ID. */
  budgets: Map<string, Budget>;
  /** The caps of persons and ephemeral keys, by ID. Null if the writing statement compares them. */
  payers: Map<string, PayerCaps> | null;
  guards: Guards;
}

/** The enabled optional guards. */
export interface Guards {
  duplicates: boolean;
  /** Seconds after its answer during which a call without a key suspects a repetition. */
  windowSeconds: number;
  acrossClients: boolean;
}

export type Ruling = OpenRuling | Obstacle;

/** A call that is sent now or after its approval. */
export type OpenRuling = ({ kind: 'admitted' } | ({ kind: 'held' } & Hold)) & {
  /** The earlier call with the same content, as named by the request. */
  duplicateOf?: string;
};

/** Reason for not executing a call. */
export type Obstacle =
  | { kind: 'over_own_limit' }
  /** The answer of the first call also answers this one. */
  | { kind: 'repeated'; firstCallId: string }
  | { kind: 'key_reused'; firstCallId: string }
  | { kind: 'duplicate'; first: SameContent }
  | { kind: 'stopped'; stop: Stop }
  /** Recipients that the client may not pay. */
  | ({ kind: 'recipient_not_allowed' } & ForbiddenRecipients)
  | OverCap
  | UnknownPayer
  /** Items whose recipients would exceed the client's daily limit per recipient. */
  | { kind: 'over_recipient_cap'; capUsd: Decimal; positions: number[] }
  /** The upstream fails most requests of the operation. An obstacle only for a call to be sent now. */
  | { kind: 'circuit_open'; retryAfter: number };

/** An obstacle with an error of its own. A repetition gets the first answer. A limit has its own error. */
export type RefusingObstacle = Exclude<Obstacle, { kind: 'over_own_limit' | 'repeated' | 'key_reused' }>;
