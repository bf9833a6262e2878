import { Scope } from '../../src/operations/catalogue/scopes';
import { TestDatabase } from '../support/databases/test-database';
import { createClient } from '../support/processes/fleet';
import { bodyOf, OperationName } from './bodies';
import { LogicalRequest, Schedule, StopStep, Submission } from './schedule';
import type { ScheduledAccount } from './simulated/account';
import { ProxyResponse, World } from './world';

/** One attempt to send a request. */
export interface SentRequest {
  number: number;
  startedAt: number;
  /** Time of the answer, or of the certainty that none would arrive. */
  endedAt: number;
  response: ProxyResponse | undefined;
}

/** The answer to an approver about a held call. */
export interface DecisionResponse {
  callId: string;
  number: number;
  decision: 'approve' | 'reject';
  startedAt: number;
  endedAt: number;
  response: ProxyResponse | undefined;
}

/** One executed schedule, with its own client. */
export interface Lane {
  schedule: Schedule;
  client: { id: string; key: string; name: string };
  /** Its account at the simulated upstream. Undefined at the sandbox. */
  account: ScheduledAccount | undefined;
  /** Number of its first step, unique across lanes. */
  firstNumber: number;
  /** Started requests, by number. */
  requests: Map<number, LogicalRequest>;
  sent: SentRequest[];
  decided: DecisionResponse[];
}

/** The state that the lanes of a wave share. */
export interface Shared {
  world: World;
  /** Number of submissions in this wave. */
  submissions: number;
  onSubmission: () => void;
}

let clients = 0;

export async function openLane(
  { database, upstream: { accounts } }: World,
  schedule: Schedule,
  firstNumber: number,
): Promise<Lane> {
  const name = `client-${++clients}`;
  const account = schedule.upstream === 'simulator' ? accounts[clients % accounts.length] : undefined;
  const scopes: Scope[] = ['pay', 'write', 'read', 'account'];
  const client = { ...(await createClient(database, name, scopes, { account: account?.name })), name };
  const lane: Lane = { schedule, client, account, firstNumber, requests: new Map(), sent: [], decided: [] };
  await limit(database, lane);
  for (const [index, step] of schedule.steps.entries()) {
    if (step.kind === 'request') account?.schedule(firstNumber + index, step);
  }
  return lane;
}

export async function runLane(shared: Shared, lane: Lane): Promise<void> {
  const { schedule } = lane;
  const stops: string[] = [];
  const steps = schedule.steps.entries();
  const worker = async () => {
    for (const [index, step] of steps) {
      if (step.kind === 'request') await runRequest(shared, lane, lane.firstNumber + index, step);
      else if (step.kind === 'stop') await stop(shared.world, lane, step, stops);
      else await lift(shared.world, step.process, stops.pop());
    }
  };
  await Promise.all(Array.from({ length: schedule.width }, worker));
  for (const id of stops) await lift(shared.world, 0, id);
}

async function limit(database: TestDatabase, { client, schedule }: Lane): Promise<void> {
  const { dailyCap, monthlyCap, approvalOver, requireIdempotencyKey } = schedule.limits;
  const [daily, monthly, over] = [dailyCap, monthlyCap, approvalOver].map((tenths) => tenths && tenths / 10);
  await database.query(
    `UPDATE client SET daily_cap_usd = $2, monthly_cap_usd = $3, approval_over_usd = $4,
      require_idempotency_key = $5
     WHERE id = $1`,
    [client.id, daily, monthly, over, requireIdempotencyKey],
  );
}

async function runRequest(
  shared: Shared,
  lane: Lane,
  number: number,
  request: LogicalRequest,
): Promise<void> {
  lane.requests.set(number, request);
  const running: Promise<unknown>[] = [];
  for (const submission of request.submissions) {
    if (!submission.concurrent) await Promise.all(running.splice(0));
    running.push(submit(shared, lane, { number, submission }));
  }
  await Promise.all(running);
}

/** @returns the answer. Undefined if none arrived. */
export async function submit(
  shared: Shared,
  lane: Lane,
  { number, submission }: { number: number; submission: Submission },
): Promise<ProxyResponse | undefined> {
  const { world } = shared;
  const request = lane.requests.get(number) as LogicalRequest;
  shared.submissions += 1;
  shared.onSubmission();
  const startedAt = world.now();
  const response = await world.ask({
    process: submission.process,
    path: `/api/v0.1${pathOf(request.operation)}`,
    key: lane.client.key,
    headers: {
      ...(request.keyed && { 'Idempotency-Key': `request-${number}` }),
      ...(submission.queued && { Prefer: 'respond-async' }),
    },
    body: bodyOf(request, number),
  });
  lane.sent.push({ number, startedAt, endedAt: world.now(), response });
  if (response?.status === 202 && !response.headers.has('idempotent-replayed'))
    await decide(world, lane, number, response);
  return response;
}

/** Sends the decisions of two concurrent approvers, each to another process. Nobody decides a queued call. */
export async function decide(
  world: World,
  lane: Lane,
  number: number,
  { json }: ProxyResponse,
): Promise<void> {
  const callId = json.call_id ?? '';
  const { decisions } = lane.requests.get(number) as LogicalRequest;
  await Promise.all(
    decisions.map(async (decision, index) => {
      const startedAt = world.now();
      const response = await world.ask({
        process: index,
        path: `/v1/approvals/${callId}/${decision}`,
        key: world.keys.approvers[index] ?? '',
        body: { reason: 'requested by the schedule' },
      });
      lane.decided.push({ callId, number, decision, startedAt, endedAt: world.now(), response });
    }),
  );
}

async function stop(
  world: World,
  { client }: Lane,
  { operation, process }: StopStep,
  stops: string[],
): Promise<void> {
  const clientId = operation === null ? client.id : null;
  world.requestedStops.push({ clientId, operation });
  const target = operation === null ? { client: client.name } : { operation };
  const body = { ...target, reason: 'requested by the schedule' };
  const askedAt = world.now();
  const response = await world.ask({ process, path: '/v1/stops', key: world.keys.admin, body });
  const since = await nextTransaction(world.database);
  // Without an answer or a record, the stop may still be active. The end of the wave lifts all stops.
  if (!response || response.status >= 300) return;
  // A database restored meanwhile may have lost it.
  if (world.lost && world.lost.at > askedAt) return;
  const id = response.json.id ?? '';
  stops.push(id);
  // Another schedule may have stopped the same operation, and be about to lift that stop.
  const same = world.stops.find((known) => known.id === id);
  const { until = Infinity, liftedAt = null } = same ?? {};
  world.stops.push({ id, clientId, operation, from: world.now(), until, since, liftedAt });
}

export async function lift(world: World, process: number, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  const [now] = await world.database.query<{ at: Date }>('SELECT clock_timestamp() AS at');
  for (const known of world.stops) {
    if (known.id !== id) continue;
    known.until = Math.min(known.until, world.now());
    known.liftedAt ??= now?.at ?? null;
  }
  await world.ask({ process, method: 'DELETE', path: `/v1/stops/${id}`, key: world.keys.admin });
}

/** Returns the ID of a transaction that has not begun to write. */
async function nextTransaction(database: TestDatabase): Promise<bigint> {
  const [row] = await database.query<{ next: string }>(
    'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next',
  );
  return BigInt(row?.next ?? 0);
}

function pathOf(operation: OperationName): string {
  return operation.slice('POST '.length);
}
