import { AdmissionRequest, Claim, Obstacle, OpenRuling, Ruling, State } from './admission';
import { RegisterRules } from './limits/beneficiaries';
import { overCap, overPayerCap, reservationOf, spend } from './limits/caps';
import { Hold, holdForHistory, holdForAmount } from './limits/holds';
import { stopFor } from './limits/stops';
import { conflictingCall, SameContent } from './same-content';
import { SharedPayments } from './shared-payments';

/**
 * Returns all obstacles to a call that is requested now and alone, in the order of `decide`, and the approval
 * that it would need otherwise.
 */
export function dryRun(
  request: AdmissionRequest,
  state: State,
): { obstacles: Obstacle[]; hold: Hold | null } {
  const batch = new Batch(state);
  return { obstacles: batch.obstaclesTo(request, state.claims.get(request.id)), hold: batch.holdOn(request) };
}

/**
 * Decides about calls in the order of their arrival. Each decision counts for the later ones. Of two equal
 * calls in one batch, only the first is sent, and a batch never overspends a cap. The SQL functions
 * no_conflict() and payers_within_caps() admit only calls without an obstacle of this file.
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

  /** @param first the call that holds its key. */
  obstaclesTo(request: AdmissionRequest, first: Claim | undefined): Obstacle[] {
    const obstacles: Obstacle[] = [];
    if (first)
      obstacles.push({ kind: first.sameContent ? 'repeated' : 'key_reused', firstCallId: first.callId });
    if (request.overOwnLimit) obstacles.push({ kind: 'over_own_limit' });
    const stop = stopFor(this.state.stops, request);
    if (stop) obstacles.push({ kind: 'stopped', stop });
    const before = this.conflictingCall(request);
    // A repetition of the key's call also has the same content.
    const isRepeated = first?.sameContent === true;
    if (before && !isRepeated && before.callId !== request.allowDuplicateOf) {
      obstacles.push({ kind: 'duplicate', first: before });
    }
    const budget = this.state.budgets.get(request.clientId);
    const over = [
      budget && this.forbiddenRecipients(request, budget),
      budget && overCap(request, budget),
      overPayerCap(request, this.state.payers),
      this.overRecipientCap(request),
      this.openCircuit(request),
    ];
    return [...obstacles, ...over.filter((obstacle) => obstacle !== undefined)];
  }

  holdOn(request: AdmissionRequest): Hold | null {
    const { recipients, register, budgets, unexplained } = this.state;
    const budget = budgets.get(request.clientId);
    const isNew =
      budget !== undefined && request.recipients !== null && register.hasNew(request.recipients, budget);
    const own = holdForAmount(request, unexplained.get(request.id), isNew);
    const hold = own ?? holdForHistory(request, recipients, budget);
    return hold ?? (this.seenElsewhere(request) ? { heldFor: 'seen_across_clients' } : null);
  }

  private claimOf(request: AdmissionRequest): Claim | undefined {
    const before = this.state.claims.get(request.id);
    if (before || request.idempotencyKey === null) return before;
    const twin = this.byKey.get(keyOf(request));
    return twin && { callId: twin.id, sameContent: twin.content === request.content };
  }

  private conflictingCall(request: AdmissionRequest): SameContent | undefined {
    const { guards, sameContent } = this.state;
    if (!guards.duplicates) return undefined;
    const inBatch = this.byContent.get(contentOf(request));
    const same = [...(inBatch ? [inBatch] : []), ...(sameContent.get(request.id) ?? [])];
    return conflictingCall(request, same, guards.windowSeconds);
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

  /** A held call is sent after its approval. The upstream may have recovered by then. */
  private openCircuit(request: AdmissionRequest): Obstacle | undefined {
    const { sendableInSeconds: retryAfter } = request;
    return retryAfter === null || this.holdOn(request) ? undefined : { kind: 'circuit_open', retryAfter };
  }

  private open(request: AdmissionRequest): OpenRuling {
    const before = this.conflictingCall(request);
    const repeats = before ? { duplicateOf: before.callId } : {};
    const hold = this.holdOn(request);
    if (this.state.guards.acrossClients) this.shared.add(request);
    if (request.idempotencyKey !== null) this.byKey.set(keyOf(request), request);
    const state = hold ? 'pending_approval' : 'in_progress';
    this.byContent.set(contentOf(request), {
      callId: request.id,
      state,
      paidSecondsAgo: null,
      undelivered: false,
    });
    if (request.payments) this.state.recipients.add(request.id, request.payments);
    this.reserve(request, hold);
    return hold ? { kind: 'held', ...hold, ...repeats } : { kind: 'admitted', ...repeats };
  }

  private seenElsewhere(request: AdmissionRequest): boolean {
    const { guards, seenAcrossClients } = this.state;
    return guards.acrossClients && (this.shared.hasOthers(request) || seenAcrossClients.has(request.id));
  }

  /** A held call counts on the caps at its approval. */
  private reserve(request: AdmissionRequest, hold: Hold | null): void {
    const budget = this.state.budgets.get(request.clientId);
    const reserved = reservationOf(request);
    if (!budget || request.usd === null || reserved === null) return;
    if (hold) {
      budget.heldUsd = budget.heldUsd.plus(request.usd);
      return;
    }
    spend(budget, reserved);
    for (const payer of request.payers) spend(this.state.payers?.get(payer), reserved);
  }
}

function keyOf({ clientId, endUserId, operation, idempotencyKey }: AdmissionRequest): string {
  return `${clientId} ${endUserId} ${operation} ${idempotencyKey}`;
}

function contentOf({ clientId, endUserId, operation, content }: AdmissionRequest): string {
  return `${clientId} ${endUserId} ${operation} ${content}`;
}
