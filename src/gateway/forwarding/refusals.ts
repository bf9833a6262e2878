import { OperationCall } from '../../access/auth/call';
import { Caller } from '../../access/callers/caller';
import { FenceService } from '../../platform/fencing/fence.service';
import { Fault, Problem } from '../../platform/errors/problem';
import { problemCodeOf } from '../../platform/storage/failures';
import { StorageService } from '../../platform/storage/storage.service';
import { Obstacle } from '../../policy/admission';
import { Forbidden, NamedRecipient } from '../../policy/beneficiaries';
import { OverCap } from '../../policy/caps';
import { brokenLimits, Limited, limitsOfRequest, missingPerson } from '../../policy/limit-rules';
import { SameContent } from '../../policy/same-content';
import { refusalText } from '../../policy/stops';
import { isEndUser } from '../../access/people/person';
import { Item } from '../../operations/item';
import { recipientsOf } from '../../journal/beneficiaries';
import { pointerIn, valueFieldOf } from '../../operations/items';
import { movesValue, OperationName } from '../../operations/catalogue';
import { Outgoing, UpstreamAccount } from '../upstream/upstream-account';

const BLOCKED = 'is blocked for your client';
const NOT_OF_KEY = 'is not among the recipients of this ephemeral key';
const UNREGISTERED = 'is not registered, and your client may pay only registered recipients';

/** Returns the limits that a request exceeds by itself: those of its client, of the person behind it, and of its credential. */
export function ownLimitProblems(call: OperationCall, items: Item[], positions?: number[]): Problem[] {
  const { caller, person, operation } = call;
  const missing = person === null && movesValue(operation) ? missingPerson(caller.limits) : undefined;
  const limits = limitsOfRequest(call);
  const others = recipientProblem(caller, operation, items, positions);
  return [
    ...(missing ? [missing] : []),
    ...limitProblems({ limits }, operation, items, positions),
    ...(others ? [others] : []),
  ];
}

/**
 * Returns the limits that a request, or a held call, exceeds by itself.
 * @param positions the positions of the items in the body's list, if some were left out.
 */
export function limitProblems(
  { limits }: Pick<Caller, 'limits'>,
  operation: OperationName,
  items: Limited[],
  positions?: number[],
): Problem[] {
  const fields = { amount: valueFieldOf(operation), country: 'country', phone: 'phone' } as const;
  const pointer = pointerIn(operation);
  return brokenLimits(limits, movesValue(operation), items, (place, field) =>
    pointer(positions?.[place] ?? place, fields[field]),
  );
}

/**
 * Returns why the credential of a caller does not pay the recipients of a request. Like a register, it names a recipient by
 * the name that the upstream pays by. Undefined if it does, or may pay anybody.
 * @param positions as for {@link limitProblems}.
 */
function recipientProblem(
  { clientId, credential }: Pick<Caller, 'clientId' | 'credential'>,
  operation: OperationName,
  items: Item[],
  positions?: number[],
): Problem | undefined {
  if (credential.kind !== 'ephemeral' || credential.recipients === null) return undefined;
  const { recipients } = credential;
  const pointer = pointerIn(operation);
  const others = recipientsOf(clientId, operation, items).filter(({ paidBy }) => !recipients.has(paidBy ?? ''));
  const faults = others.map(({ position, field }) => ({
    pointer: pointer(positions?.[position] ?? position, field ?? valueFieldOf(operation)),
    detail: NOT_OF_KEY,
  }));
  return faults.length > 0 ? new Problem('recipient_not_allowed', { faults }) : undefined;
}

/** Refuses a request while this instance must not pay. Nothing may be admitted by a database that cannot be trusted. */
export function requireNoFence(fence: FenceService): void {
  if (fence.isRaised) throw new Problem('instance_fenced');
}

/** Refuses a request while its outcome might fit nowhere. */
export function requireSpace({ obstacle }: StorageService): void {
  if (obstacle) throw new Problem(problemCodeOf(obstacle));
}

/**
 * Refuses a request while its circuit is open. Otherwise it may be the next probe: it is to be sent, or given up.
 * @param text says what does not happen. Undefined for the usual text.
 */
export function requireClosedCircuit(account: UpstreamAccount, outgoing: Outgoing, text?: string): void {
  const retryAfter = account.sendableInSeconds(outgoing.operation, outgoing);
  if (retryAfter !== null)
    throw new Problem('upstream_unreachable', { retryAfter, ...(text !== undefined && { text }) });
}

/** Returns the error for a request that an obstacle stops. */
export function obstacleProblem(
  obstacle: Exclude<Obstacle, { kind: 'over_own_limit' | 'repeated' | 'key_reused' }>,
  { operation, person }: Pick<OperationCall, 'operation' | 'person'>,
): Problem {
  switch (obstacle.kind) {
    case 'duplicate':
      return suspectedDuplicate(obstacle.first);
    case 'stopped':
      return new Problem('stopped', { text: refusalText(obstacle.stop) });
    case 'recipient_not_allowed':
      return new Problem('recipient_not_allowed', { faults: forbiddenFaults(obstacle, operation) });
    case 'circuit_open':
      return new Problem('upstream_unreachable', { retryAfter: obstacle.retryAfter });
    case 'over_cap':
      return person && isEndUser(person) && obstacle.of === 'client'
        ? new Problem('cap_exceeded', { text: CAP_OF_APP })
        : overCapProblem(obstacle);
    case 'unknown_payer':
      return new Problem('database_unavailable', { text: UNKNOWN_PAYER });
    case 'over_recipient_cap': {
      const { capUsd } = obstacle;
      const text = `Your client may pay ${capUsd.toFixed()} US dollars to one recipient in a day (UTC). Nothing was sent. "errors" lists the items that exceed it.`;
      return new Problem('cap_exceeded', { text, faults: recipientFaults(obstacle, operation) });
    }
  }
}

const UNKNOWN_PAYER =
  'The database of the proxy does not have the person or the ephemeral key of this request, as after a restore, so it cannot tell their caps. Nothing was sent. Send the request again.';

/** Whose cap it is, for the app. */
const CAP_OF = { client: "Your client's", person: "This person's", ephemeral_key: "This ephemeral key's" } as const;

/** End users do not learn what everybody else has spent. */
const CAP_OF_APP =
  'This payment would exceed a cap of the whole app. Nothing was sent. Try again on another day, or ask the provider of the app.';

function overCapProblem({ of, period, capUsd, leftUsd, feeUsd }: OverCap): Problem {
  const fees = feeUsd ? ` The upstream's expected fees of ${feeUsd.toFixed()} US dollars count, too.` : '';
  const next =
    of === 'ephemeral_key' ? 'Ask your server for another key.' : 'GET /v1/limits shows when the cap resets.';
  const text = `${CAP_OF[of]} ${period} cap is ${capUsd.toFixed()} US dollars, with ${leftUsd.toFixed()} US dollars left.${fees} Nothing was sent. ${next}`;
  return new Problem('cap_exceeded', { text });
}

/** Lists the items whose recipients the client may not pay. */
export function forbiddenFaults({ blocked, unregistered }: Forbidden, operation: OperationName): Fault[] {
  const pointer = pointerIn(operation);
  const faultsOf = (recipients: NamedRecipient[], detail: string) =>
    recipients.map(({ position, field }) => ({
      position,
      fault: { pointer: pointer(position, field ?? valueFieldOf(operation)), detail },
    }));
  return [...faultsOf(blocked, BLOCKED), ...faultsOf(unregistered, UNREGISTERED)]
    .sort((one, other) => one.position - other.position)
    .map(({ fault }) => fault);
}

/** Lists the items whose recipients would get too much. Their sums are not stated, because others may have paid them. */
export function recipientFaults(
  { capUsd, positions }: Extract<Obstacle, { kind: 'over_recipient_cap' }>,
  operation: OperationName,
): Fault[] {
  const pointer = pointerIn(operation);
  const detail = `would bring its recipient over ${capUsd.toFixed()} US dollars today (UTC), with what your client has paid or requested before`;
  return positions.map((position) => ({ pointer: pointer(position, valueFieldOf(operation)), detail }));
}

function suspectedDuplicate({ callId, state, paidSecondsAgo }: SameContent): Problem {
  const text = `Call ${callId} has the same content, and its state is ${state}. Nothing was sent. GET /v1/calls/${callId} shows its state. To pay in addition to that call, send the request again with the header Allow-Duplicate-Of: ${callId}.`;
  // A call that is still open may turn out to be the requested one.
  const action = paidSecondsAgo === null ? 'wait' : 'ask';
  return new Problem('suspected_duplicate', { text, firstCallId: callId, firstCallState: state, action });
}
