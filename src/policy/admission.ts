import { Decimal } from 'decimal.js';
import { Item } from '../operations/item';
import { Caps, OverCap, overCap, reservationOf } from './caps';
import { Forbidden, NamedRecipient, Register, RegisterRules } from './beneficiaries';
import { HeldFor, Hold, holdByHistory, holdByItself } from './holds';
import { HistoryLimits, Payment, RecipientDays } from './recipient-days';
import { callInTheWay, SameContent } from './same-content';
import { SharedPayments } from './shared-payments';
import { Stop, stopFor } from './stops';

/** A request that pays or creates something, with everything that decides whether it may be sent. */
export interface AdmissionRequest {
  /** The ID of its call. */
  id: string;
  clientId: string;
  operation: string;
  items: Item[];
  idempotencyKey: string | null;
  /** The call that it repeats intentionally, as the app states (`Allow-Duplicate-Of`). */
  allowDuplicateOf: string | null;
  /** Its body in canonical form (RFC 8785), which is the same if the request is sent again. */
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
export interface Budget extends HistoryLimits, RegisterRules, Caps {
  /** The sum of its calls that wait for an approval. Read only if `approvalOverDayUsd` needs it. */
  heldUsd: Decimal;
}

/** The call that has a key, and whether its content is the same. */
interface Claim {
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
  /** The recipients of these items would get more than the client may pay to one recipient in a day. */
  | { kind: 'over_recipient_cap'; capUsd: Decimal; positions: number[] }
  /** The upstream fails most requests of the operation. Only a call that would be sent now has this obstacle. */
  | { kind: 'circuit_open'; retryAfter: number };

/**
 * Everything that stands against a call if it is requested now and alone, in the order of `decide`, and the approval
 * that it would need otherwise.
 */
export function dryRun(request: AdmissionRequest, state: State): { obstacles: Obstacle[]; hold: Hold | null } {
  const batch = new Batch(state);
  return { obstacles: batch.obstaclesTo(request, state.claims.get(request.id)), hold: batch.holdOn(request) };
}

/**
 * Decides about calls in the order of their arrival. Each decision counts for the calls after it. Of two equal calls in
 * one batch, only the first is sent, and a batch never overspends a cap.
 */
export function decide(requests: AdmissionRequest[], state: State): Ruling[] {
  const batch = new Batch(state);
  return requests.map((request) => batch.decide(request));
}

class Batch {
  private readonly byKey = new Map<string, AdmissionRequest>();
  private readonly byContent = new Map<string, SameContent>();
  private readonly shared = new SharedPayments();

  constructor(private readonly state: State) {}

  decide(request: AdmissionRequest): Ruling {
    const first = this.claimOf(request);
    return this.obstaclesTo(request, first)[0] ?? this.open(request);
  }

  /** @param first the call that has its key. */
  obstaclesTo(request: AdmissionRequest, first: Claim | undefined): Obstacle[] {
    const obstacles: Obstacle[] = [];
    if (first) obstacles.push({ kind: first.sameContent ? 'repeated' : 'key_reused', firstCallId: first.callId });
    if (request.overOwnLimit) obstacles.push({ kind: 'over_own_limit' });
    const stop = stopFor(this.state.stops, request);
    if (stop) obstacles.push({ kind: 'stopped', stop });
    const before = this.callInTheWay(request);
    // If a call repeats the call of its key, that call also has the same content.
    const isRepeated = first?.sameContent === true;
    if (before && !isRepeated && before.callId !== request.allowDuplicateOf) {
      obstacles.push({ kind: 'duplicate', first: before });
    }
    const budget = this.state.budgets.get(request.clientId);
    const over = [
      budget && this.forbiddenRecipients(request, budget),
      budget && overCap(request, budget),
      this.overRecipientCap(request),
      this.openCircuit(request),
    ];
    return [...obstacles, ...over.filter((obstacle) => obstacle !== undefined)];
  }

  holdOn(request: AdmissionRequest): Hold | null {
    const { recipients, register, budgets, unexplained } = this.state;
    const budget = budgets.get(request.clientId);
    const isNew = budget !== undefined && request.recipients !== null && register.hasNew(request.recipients, budget);
    const own = holdByItself(request, unexplained.get(request.id), isNew);
    const hold = own ?? holdByHistory(request, recipients, budget);
    return hold ?? (this.seenElsewhere(request) ? { heldFor: 'seen_across_clients' } : null);
  }

  private claimOf(request: AdmissionRequest): Claim | undefined {
    const before = this.state.claims.get(request.id);
    if (before || request.idempotencyKey === null) return before;
    const twin = this.byKey.get(keyOf(request));
    return twin && { callId: twin.id, sameContent: twin.content === request.content };
  }

  private callInTheWay(request: AdmissionRequest): SameContent | undefined {
    const { guards, sameContent } = this.state;
    if (!guards.duplicates) return undefined;
    const inBatch = this.byContent.get(contentOf(request));
    const same = [...(inBatch ? [inBatch] : []), ...(sameContent.get(request.id) ?? [])];
    return callInTheWay(request, same, guards.windowSeconds);
  }

  private forbiddenRecipients({ recipients }: AdmissionRequest, rules: RegisterRules): Obstacle | undefined {
    const forbidden = recipients ? this.state.register.forbidden(recipients, rules) : undefined;
    return forbidden && { kind: 'recipient_not_allowed', ...forbidden };
  }

  private overRecipientCap({ clientId, payments }: AdmissionRequest): Obstacle | undefined {
    const capUsd = this.state.budgets.get(clientId)?.maxRecipientDayUsd ?? null;
    const positions = payments ? this.state.recipients.over(payments, capUsd) : [];
    return capUsd && positions.length > 0 ? { kind: 'over_recipient_cap', capUsd, positions } : undefined;
  }

  /** A held call is sent after its approval, when the upstream may be well again. */
  private openCircuit(request: AdmissionRequest): Obstacle | undefined {
    const { sendableInSeconds: retryAfter } = request;
    return retryAfter === null || this.holdOn(request) ? undefined : { kind: 'circuit_open', retryAfter };
  }

  private open(request: AdmissionRequest): Opened {
    const before = this.callInTheWay(request);
    const repeats = before ? { duplicateOf: before.callId } : {};
    const hold = this.holdOn(request);
    if (this.state.guards.acrossClients) this.shared.add(request);
    if (request.idempotencyKey !== null) this.byKey.set(keyOf(request), request);
    const state = hold ? 'pending_approval' : 'in_progress';
    this.byContent.set(contentOf(request), { callId: request.id, state, paidSecondsAgo: null, undelivered: false });
    if (request.payments) this.state.recipients.add(request.id, request.payments);
    this.reserve(request, hold);
    return hold ? { kind: 'held', ...hold, ...repeats } : { kind: 'admitted', ...repeats };
  }

  private seenElsewhere(request: AdmissionRequest): boolean {
    const { guards, seenAcrossClients } = this.state;
    return guards.acrossClients && (this.shared.hasOthers(request) || seenAcrossClients.has(request.id));
  }

  /** A held call counts against the caps when it is approved. */
  private reserve(request: AdmissionRequest, hold: Hold | null): void {
    const budget = this.state.budgets.get(request.clientId);
    const reserved = reservationOf(request);
    if (!budget || request.usd === null || reserved === null) return;
    if (hold) {
      budget.heldUsd = budget.heldUsd.plus(request.usd);
      return;
    }
    budget.spentTodayUsd = budget.spentTodayUsd.plus(reserved);
    budget.spentThisMonthUsd = budget.spentThisMonthUsd.plus(reserved);
  }
}

function keyOf({ clientId, operation, idempotencyKey }: AdmissionRequest): string {
  return `${clientId} ${operation} ${idempotencyKey}`;
}

function contentOf({ clientId, operation, content }: AdmissionRequest): string {
  return `${clientId} ${operation} ${content}`;
}
