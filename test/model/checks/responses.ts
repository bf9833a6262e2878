import { Lane, SentRequest } from '../lane';
import { LogicalRequest } from '../schedule';
import { ProxyResponse, World } from '../world';
import { GATEWAY_REFUSALS, Intent, isUnverified } from './records';

/** Refusals of requests before admission. They are correct at any time. */
const HARMLESS = ['database_unavailable', 'overloaded', 'upstream_unreachable'];

/** Checks the answers given to an app. */
export function checkResponse(world: World, lane: Lane, sent: SentRequest, intents: Intent[]): string[] {
  const { response, number } = sent;
  if (!response) return [];
  const id = response.headers.get('x-call-id') ?? '';
  const own = intents.find((intent) => intent.id === id && !intent.refused);
  const request = lane.requests.get(number) as LogicalRequest;
  const around = { sent, lane, world, intents };
  const wrong = own
    ? wasLost(world, id)
      ? checkLost(response, own)
      : checkAnswer(response, own)
    : checkRefusal(response, request, around);
  const opened = own !== undefined && !response.headers.has('idempotent-replayed');
  return [
    ...(own && own.number !== number ? [`was answered as request ${own.number}`] : []),
    ...(opened && response.status < 300 && response.by === world.fenced
      ? ['was admitted although its clock is wrong']
      : []),
    ...(opened && wasStopped(world, lane, request, sent) ? ['was admitted during a stop'] : []),
    ...wrong,
  ].map(
    (fault) => `request ${number}, call ${id}, got ${response.status} ${response.json.code ?? ''}: ${fault}`,
  );
}

/** Returns whether the database lost records of a call. */
function wasLost({ lost }: World, id: string): boolean {
  return lost?.calls.has(id) ?? false;
}

/**
 * Checks the answer of a call that the database had lost. A copy has no answer, no refusal and no decision.
 * So this checks only that no paid call is recorded as unpaid.
 */
function checkLost(response: ProxyResponse, { outcome, resolution }: Intent): string[] {
  const wasPaid = isSuccess({ status: response.status, json: response.json });
  const isUnpaid = outcome === 'not_sent' || outcome === 'rejected' || resolution === 'not_executed';
  return wasPaid && isUnpaid
    ? [`${outcome}${resolution ? `, ${resolution}` : ''} is recorded, after a loss`]
    : [];
}

/** Checks the answer of an admitted call: its own, or that of the first call with its key. */
function checkAnswer(response: ProxyResponse, intent: Intent): string[] {
  const { status, json, text } = response;
  const { outcome, answer, failure, resolution, held, queued, decision, undelivered } = intent;
  if (isLateError(response, intent)) return [];
  if (isUnverified(intent) && text === answer && status === intent.upstreamStatus) return [];
  const facts = [
    outcome,
    resolution ?? [],
    held ? `held and ${decision}` : [],
    queued ? `queued and ${decision}` : [],
  ].flat();
  const recorded = `${facts.join(', ')} is recorded`;
  switch (json.code) {
    case 'outcome_unknown':
      // it may have been recorded too late for its app
      return outcome !== 'succeeded' || undelivered ? [] : [recorded];
    case 'upstream_unreachable':
    case 'instance_fenced': // after its admission
    case 'too_late':
      // A person may have settled it while its process was suspended.
      return outcome === 'not_sent' || resolution === 'not_executed' ? [] : [recorded];
    case 'upstream_auth':
    case 'upstream_busy':
      // It may have followed a person's settlement, which it does not change.
      if (outcome === 'rejected' || failure === 'abandoned') return [];
      return isUnverified(intent) && GATEWAY_REFUSALS.includes(intent.upstreamStatus) ? [] : [recorded];
    case 'overloaded': // leaves no record
      return [recorded];
    case 'database_unavailable': // its process died before it recorded that the app was told so
      return queued ? [] : [recorded];
    case undefined:
      if (status === 202) return json.status === waitingStatusOf(intent) ? [] : [recorded];
      if (resolution === 'confirmed' && outcome !== 'succeeded') return status === 200 ? [] : [recorded];
      if (outcome !== (isSuccess({ status, json }) ? 'succeeded' : 'rejected')) return [recorded];
      return answer === text ? [] : ['the bytes differ from the record'];
    default: // from the upstream, such as TRANSACTION_FAILED
      return outcome === 'rejected' && answer === text ? [] : [recorded];
  }
}

/**
 * Returns whether an inconclusive error followed the settlement of its call, because its process was
 * suspended. It settles nothing, so it is not recorded.
 */
function isLateError({ json }: ProxyResponse, { failure }: Intent): boolean {
  return failure === 'abandoned' && json.status === 'error' && json.code === undefined;
}

/** Fields of an answer that name executed work. A sub-account is not a transaction. */
const NAMES_WORK = /"(chiRef|tnxID|paymentLink)":/;

/** Returns whether an answer is a success. An error text is an error, unless there are transactions. */
function isSuccess({ status, json }: Pick<ProxyResponse, 'status' | 'json'>): boolean {
  if (status !== 200 || json.status !== 'success') return false;
  const { error = 'None' } = json.data ?? {};
  return error === 'None' || NAMES_WORK.test(JSON.stringify(json.data));
}

interface AnswerContext {
  sent: SentRequest;
  lane: Lane;
  world: World;
  intents: Intent[];
}

/** Checks the answer of a request that was not admitted. */
function checkRefusal(
  response: ProxyResponse,
  request: LogicalRequest,
  { sent, lane, world, intents }: AnswerContext,
): string[] {
  const { json } = response;
  if (response.status === 202) return checkPending(response, intents);
  const first = intents.find(({ id }) => id === json.first_call_id);
  if (json.first_call_id !== undefined && wasLost(world, json.first_call_id)) return [];
  switch (json.code ?? '') {
    case 'outcome_unknown':
      // The database had lost sight of its process. Its last statement may have continued for a moment, and
      // it may be back.
      if (first && world.outOfSight.includes(first.process)) return [];
      return !first || (first.outcome !== null && first.outcome !== 'unknown' && first.alive)
        ? ['the outcome is known']
        : [];
    case 'request_in_progress':
    case 'approval_rejected':
    case 'approval_expired':
      return first?.number === sent.number ? [] : ['the first call is another one'];
    case 'suspected_duplicate':
      if (first?.number !== sent.number || request.keyed) return ['it is no duplicate'];
      return [];
    case 'idempotency_key_required':
      return lane.schedule.limits.requireIdempotencyKey && !request.keyed ? [] : ['no key is required'];
    case 'stopped':
      return world.requestedStops.some((stop) => isStoppedBy(stop, lane, request))
        ? []
        : ['no stop was active'];
    case 'cap_exceeded': // checked in money.ts
      return [];
    case 'instance_fenced':
      return world.mayFence || response.by === world.fenced ? [] : ['the instance is not fenced'];
    default:
      return HARMLESS.includes(json.code as string) ? [] : ['the code is unexpected'];
  }
}

/** Checks a replay of a refused call that waited: its commit was reported as failed, its refusal followed. */
function checkPending({ headers, json }: ProxyResponse, intents: Intent[]): string[] {
  const id = headers.get('x-call-id');
  const refused = intents.find((intent) => intent.id === id && intent.refused);
  const isWaiting = refused !== undefined && json.status === waitingStatusOf(refused);
  return isWaiting && headers.has('idempotent-replayed') ? [] : ['the call does not wait'];
}

/** Returns the status of a 202 about a call that waits. Undefined if it never did. */
function waitingStatusOf({ held, queued }: Intent): string | undefined {
  if (held) return 'pending_approval';
  return queued ? 'queued' : undefined;
}

/** Returns whether a stop was active from before the request until after the answer. */
export function wasStopped(
  { stops }: World,
  lane: Lane,
  request: LogicalRequest,
  { startedAt, endedAt }: { startedAt: number; endedAt: number },
): boolean {
  return stops.some(
    (stop) => stop.from < startedAt && stop.until > endedAt && isStoppedBy(stop, lane, request),
  );
}

export function isStoppedBy(
  stop: { clientId: string | null; operation: string | null },
  { client }: Lane,
  { operation }: LogicalRequest,
): boolean {
  const isEverything = stop.clientId === null && stop.operation === null;
  return isEverything || stop.clientId === client.id || stop.operation === operation;
}
