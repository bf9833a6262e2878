import { Decimal } from 'decimal.js';
import { callInTheWay, SameContent } from './same-content';
import { Stop, stopFor } from './stops';

/** Why a call waits for an approval. */
export type HeldFor = 'over_threshold' | 'seen_across_clients';

/** A call that pays or makes something, as far as it matters for whether it may. */
export interface Asking {
  id: string;
  clientId: string;
  operation: string;
  idempotencyKey: string | null;
  /** Its body in canonical form: the same asked again has the same. */
  content: string;
  itemCount: number;
  /** The call that it names as the one it repeats on purpose (`Allow-Duplicate-Of`). */
  allowDuplicateOf: string | null;
  /** It breaks a rule of its own, so that it can only be a replay of one that was carried out before. */
  barred: boolean;
  /** What counts against the caps; null: nothing does. */
  usd: Decimal | null;
  heldFor: HeldFor | null;
  /** Who is paid how much, in words that are equal for equals; for the guard across clients. */
  payments: string[];
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
  /** The call that has an asking call's key, by the asking call's id: not one that was provably never carried out. */
  claims: Map<string, Claim>;
  /** Calls with the same content that have paid, or may yet, by the asking call's id; newest first. */
  sameContent: Map<string, SameContent[]>;
  /** Asking calls whose recipient and amount another client had a moment ago. */
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

export type Verdict = Opened | Obstacle;

/** A call that is sent, now or once it is approved. */
export type Opened = ({ kind: 'admitted' } | { kind: 'held'; heldFor: HeldFor }) & {
  /** The call that was in its way, which it named. */
  duplicateOf?: string;
};

/** Why a call is not carried out. */
export type Obstacle =
  | { kind: 'barred' }
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
export function dryRun(asking: Asking, state: State): { obstacles: Obstacle[]; heldFor: HeldFor | null } {
  const batch = new Batch(state);
  return { obstacles: batch.obstaclesTo(asking, state.claims.get(asking.id)), heldFor: batch.heldFor(asking) };
}

/**
 * Decides about calls in the order in which they came. What is decided about one counts for those after it, so that of
 * twins in one batch only the first is sent, and a batch never overspends.
 */
export function decide(askings: Asking[], state: State): Verdict[] {
  const batch = new Batch(state);
  return askings.map((asking) => batch.decide(asking));
}

class Batch {
  private readonly byKey = new Map<string, Asking>();
  private readonly byContent = new Map<string, SameContent>();
  private readonly byPayment = new Map<string, Set<string>>();

  constructor(private readonly state: State) {}

  decide(asking: Asking): Verdict {
    const first = this.claimOf(asking);
    return this.obstaclesTo(asking, first)[0] ?? this.open(asking);
  }

  /** @param first the call that has its key. */
  obstaclesTo(asking: Asking, first: Claim | undefined): Obstacle[] {
    const obstacles: Obstacle[] = [];
    if (first) obstacles.push({ kind: first.sameContent ? 'repeated' : 'key_reused', firstCallId: first.callId });
    if (asking.barred) obstacles.push({ kind: 'barred' });
    const stop = stopFor(this.state.stops, asking);
    if (stop) obstacles.push({ kind: 'stopped', stop });
    const before = this.callInTheWay(asking);
    // Of a call that repeats its key's, that one is in the way by its content too.
    const isRepeated = first?.sameContent === true;
    if (before && !isRepeated && before.callId !== asking.allowDuplicateOf) {
      obstacles.push({ kind: 'duplicate', first: before });
    }
    const overCap = this.overCap(asking);
    return overCap ? [...obstacles, overCap] : obstacles;
  }

  heldFor(asking: Asking): HeldFor | null {
    return asking.heldFor ?? (this.seenElsewhere(asking) ? 'seen_across_clients' : null);
  }

  private claimOf(asking: Asking): Claim | undefined {
    const before = this.state.claims.get(asking.id);
    if (before || asking.idempotencyKey === null) return before;
    const twin = this.byKey.get(keyOf(asking));
    return twin && { callId: twin.id, sameContent: twin.content === asking.content };
  }

  private callInTheWay(asking: Asking): SameContent | undefined {
    const { guards, sameContent } = this.state;
    if (!guards.duplicates) return undefined;
    const inBatch = this.byContent.get(contentOf(asking));
    const same = [...(inBatch ? [inBatch] : []), ...(sameContent.get(asking.id) ?? [])];
    return callInTheWay(asking, same, guards.windowSeconds);
  }

  private overCap({ clientId, usd }: Asking): Obstacle | undefined {
    const budget = this.state.budgets.get(clientId);
    if (!budget || usd === null) return undefined;
    const { dailyCapUsd, monthlyCapUsd, spentTodayUsd, spentThisMonthUsd } = budget;
    if (dailyCapUsd && spentTodayUsd.plus(usd).gt(dailyCapUsd)) return overCap('daily', dailyCapUsd, spentTodayUsd);
    if (monthlyCapUsd && spentThisMonthUsd.plus(usd).gt(monthlyCapUsd)) {
      return overCap('monthly', monthlyCapUsd, spentThisMonthUsd);
    }
    return undefined;
  }

  private open(asking: Asking): Opened {
    const before = this.callInTheWay(asking);
    const repeats = before ? { duplicateOf: before.callId } : {};
    const heldFor = this.heldFor(asking);
    if (asking.idempotencyKey !== null) this.byKey.set(keyOf(asking), asking);
    const state = heldFor ? 'pending_approval' : 'in_progress';
    this.byContent.set(contentOf(asking), { callId: asking.id, state, paidSecondsAgo: null });
    if (heldFor) return { kind: 'held', heldFor, ...repeats }; // it is reserved when it is approved
    this.reserve(asking);
    return { kind: 'admitted', ...repeats };
  }

  private seenElsewhere({ id, clientId, payments }: Asking): boolean {
    if (!this.state.guards.acrossClients) return false;
    const others = payments.flatMap((payment) => {
      const clients = this.byPayment.get(payment) ?? new Set();
      this.byPayment.set(payment, new Set([...clients, clientId]));
      return [...clients].filter((other) => other !== clientId);
    });
    return others.length > 0 || this.state.seenAcrossClients.has(id);
  }

  private reserve({ clientId, usd }: Asking): void {
    const budget = this.state.budgets.get(clientId);
    if (!budget || usd === null) return;
    budget.spentTodayUsd = budget.spentTodayUsd.plus(usd);
    budget.spentThisMonthUsd = budget.spentThisMonthUsd.plus(usd);
  }
}

function overCap(period: 'daily' | 'monthly', capUsd: Decimal, spentUsd: Decimal): Obstacle {
  return { kind: 'over_cap', period, capUsd, leftUsd: Decimal.max(0, capUsd.minus(spentUsd)) };
}

function keyOf({ clientId, operation, idempotencyKey }: Asking): string {
  return `${clientId} ${operation} ${idempotencyKey}`;
}

function contentOf({ clientId, operation, content }: Asking): string {
  return `${clientId} ${operation} ${content}`;
}
