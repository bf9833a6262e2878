import { Decimal } from 'decimal.js';
import { Item } from '../operations/item';
import { callInTheWay, SameContent } from './same-content';
import { Stop, stopFor } from './stops';

/** Why a call waits for an approval. */
export type HeldFor = 'over_threshold' | 'seen_across_clients';

/** A request that pays or makes something, with everything that decides whether it may be sent. */
export interface AdmissionRequest {
  /** The id of its call. */
  id: string;
  clientId: string;
  operation: string;
  items: Item[];
  idempotencyKey: string | null;
  /** The call that the app names as the one it repeats on purpose (`Allow-Duplicate-Of`). */
  allowDuplicateOf: string | null;
  /** Its body in canonical form (RFC 8785): a request that is sent again has the same. */
  content: string;
  /**
   * Whether it breaks a rule by itself, such as a limit of its client. It can then only be answered as the replay of a call
   * that was carried out before.
   */
  overOwnLimit: boolean;
  /** What counts against the caps; null: nothing does. */
  usd: Decimal | null;
  /** Why it has to wait for an approval, whatever else is asked for; null: it does not. */
  heldFor: HeldFor | null;
}

/** What a client may spend, and has. */
export interface Budget {
  dailyCapUsd: Decimal | null;
  monthlyCapUsd: Decimal | null;
  spentTodayUsd: Decimal;
  spentThisMonthUsd: Decimal;
}

/** The call that has a key, and whether it asked for the same. */
interface Claim {
  callId: string;
  sameContent: boolean;
}

/**
 * What holds at the moment of the decision. Until that is committed, no other admission changes the claims, duplicates and
 * budgets of these clients; a stop may come meanwhile, and does not undo the decision (see `isStopped` of the journal).
 */
export interface State {
  /** The call that has a request's key, by the request's id: not one that was provably never carried out. */
  claims: Map<string, Claim>;
  /** Calls with the same content that have paid, or may yet, by the request's id; newest first. */
  sameContent: Map<string, SameContent[]>;
  /** Requests whose recipient and amount another client had a moment ago. */
  seenAcrossClients: Set<string>;
  stops: Stop[];
  /** By client. */
  budgets: Map<string, Budget>;
  guards: Guards;
}

/** Which of the guards that can be switched off are on. */
export interface Guards {
  duplicates: boolean;
  /** For how long after its answer a call without a key is noticed when it comes again; seconds. */
  windowSeconds: number;
  acrossClients: boolean;
}

export type Ruling = Opened | Obstacle;

/** A call that is sent, now or once it is approved. */
export type Opened = ({ kind: 'admitted' } | { kind: 'held'; heldFor: HeldFor }) & {
  /** The call that was in its way, which it named. */
  duplicateOf?: string;
};

/** Why a call is not carried out. */
export type Obstacle =
  | { kind: 'over_own_limit' }
  /** The first call's answer is its answer too. */
  | { kind: 'repeated'; firstCallId: string }
  | { kind: 'key_reused'; firstCallId: string }
  | { kind: 'duplicate'; first: SameContent }
  | { kind: 'stopped'; stop: Stop }
  | { kind: 'over_cap'; period: 'daily' | 'monthly'; capUsd: Decimal; leftUsd: Decimal };

/**
 * All that stands against a call if it is asked for now and alone, in the order in which `decide` looks; and what it would
 * wait for if nothing did.
 */
export function dryRun(request: AdmissionRequest, state: State): { obstacles: Obstacle[]; heldFor: HeldFor | null } {
  const batch = new Batch(state);
  return { obstacles: batch.obstaclesTo(request, state.claims.get(request.id)), heldFor: batch.heldFor(request) };
}

/**
 * Decides about calls in the order in which they came. What is decided about one counts for those after it, so that of
 * twins in one batch only the first is sent, and a batch never overspends.
 */
export function decide(requests: AdmissionRequest[], state: State): Ruling[] {
  const batch = new Batch(state);
  return requests.map((request) => batch.decide(request));
}

class Batch {
  private readonly byKey = new Map<string, AdmissionRequest>();
  private readonly byContent = new Map<string, SameContent>();
  private readonly byPayment = new Map<string, Set<string>>();

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
    // Of a call that repeats its key's, that one is in the way by its content too.
    const isRepeated = first?.sameContent === true;
    if (before && !isRepeated && before.callId !== request.allowDuplicateOf) {
      obstacles.push({ kind: 'duplicate', first: before });
    }
    const overCap = this.overCap(request);
    return overCap ? [...obstacles, overCap] : obstacles;
  }

  heldFor(request: AdmissionRequest): HeldFor | null {
    return request.heldFor ?? (this.seenElsewhere(request) ? 'seen_across_clients' : null);
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

  private overCap({ clientId, usd }: AdmissionRequest): Obstacle | undefined {
    const budget = this.state.budgets.get(clientId);
    if (!budget || usd === null) return undefined;
    const { dailyCapUsd, monthlyCapUsd, spentTodayUsd, spentThisMonthUsd } = budget;
    if (dailyCapUsd && spentTodayUsd.plus(usd).gt(dailyCapUsd)) return overCap('daily', dailyCapUsd, spentTodayUsd);
    if (monthlyCapUsd && spentThisMonthUsd.plus(usd).gt(monthlyCapUsd)) {
      return overCap('monthly', monthlyCapUsd, spentThisMonthUsd);
    }
    return undefined;
  }

  private open(request: AdmissionRequest): Opened {
    const before = this.callInTheWay(request);
    const repeats = before ? { duplicateOf: before.callId } : {};
    const heldFor = this.heldFor(request);
    if (request.idempotencyKey !== null) this.byKey.set(keyOf(request), request);
    const state = heldFor ? 'pending_approval' : 'in_progress';
    this.byContent.set(contentOf(request), { callId: request.id, state, paidSecondsAgo: null });
    if (heldFor) return { kind: 'held', heldFor, ...repeats }; // it is reserved when it is approved
    this.reserve(request);
    return { kind: 'admitted', ...repeats };
  }

  private seenElsewhere({ id, clientId, usd, items }: AdmissionRequest): boolean {
    if (!this.state.guards.acrossClients) return false;
    const others = (usd === null ? [] : items.flatMap(paymentOf)).flatMap((payment) => {
      const clients = this.byPayment.get(payment) ?? new Set();
      this.byPayment.set(payment, new Set([...clients, clientId]));
      return [...clients].filter((other) => other !== clientId);
    });
    return others.length > 0 || this.state.seenAcrossClients.has(id);
  }

  private reserve({ clientId, usd }: AdmissionRequest): void {
    const budget = this.state.budgets.get(clientId);
    if (!budget || usd === null) return;
    budget.spentTodayUsd = budget.spentTodayUsd.plus(usd);
    budget.spentThisMonthUsd = budget.spentThisMonthUsd.plus(usd);
  }
}

function overCap(period: 'daily' | 'monthly', capUsd: Decimal, spentUsd: Decimal): Obstacle {
  return { kind: 'over_cap', period, capUsd, leftUsd: Decimal.max(0, capUsd.minus(spentUsd)) };
}

/** Who is paid how much, in words that are equal for equal payments. */
function paymentOf({ email, phone, handle, receiver, amountUsd }: Item): string[] {
  if (amountUsd === null) return [];
  return [`${email?.toLowerCase() ?? phone ?? handle?.toLowerCase() ?? receiver} ${amountUsd.toFixed()}`];
}

function keyOf({ clientId, operation, idempotencyKey }: AdmissionRequest): string {
  return `${clientId} ${operation} ${idempotencyKey}`;
}

function contentOf({ clientId, operation, content }: AdmissionRequest): string {
  return `${clientId} ${operation} ${content}`;
}
