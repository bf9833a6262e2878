import { OPERATION_NAMES, rowOf } from '../../src/operations/catalogue';
import { setTimeout as sleep } from 'node:timers/promises';
import { KINDS } from './mixed-orders';
import { inParallel, insist, isDone, isInDoubt, isOpen, lastOf, Order } from './orders';
import { Doubts, Stage, total } from './stage';
import { Arrival } from './upstream';

/** What the audit of a scenario has counted. All but the first four must be 0, unless the scenario explains it. */
export interface Audited {
  orders: number;
  /** Requests of apps that arrived at the upstream. */
  arrived: number;
  /** Orders that an app knows to be carried out. */
  acknowledged: number;
  /** Orders that were refused for good, such as over a cap. */
  refused: number;
  /** Arrivals without a record. */
  unrecorded: number;
  /** Calls that are recorded as answered by the upstream, and never arrived. */
  phantom: number;
  /** Orders that were carried out more than once. */
  twice: number;
  /** Acknowledged orders that are not in the history as succeeded, or were not carried out. */
  lost: number;
  /** Orders with a key that still have no final answer. */
  unanswered: number;
  /** Clients whose payments exceed their cap. */
  overspent: number;
  /** Calls whose outcome nobody knows. */
  inDoubt: number;
  /** Whether the log could not be verified. */
  unverified: number;
}

/** A call as the history shows it. */
interface Call {
  id: string;
  clientId: string;
  operation: string;
  body: string | null;
  state: string;
  /** Whether the upstream's answer is recorded. */
  answered: boolean;
}

/** Reads may be repeated and are answered from caches, so they are not compared one by one. */
const isRead = (operation: string): boolean => effectOf(operation) === 'read';

const effectOf = (operation: string) =>
  rowOf(OPERATION_NAMES.find((name) => name === operation) ?? 'POST /send').effect;

/** Far from the numbers of other orders. */
const FIRST_LATER = 80_000_000;
const LATER_EVERY_MS = 1_000;

const PATIENCE_MS = 60_000;
const WIDTH = 8;

/**
 * Lets the apps and the worker finish, and compares what the apps were told, the history and the upstream, one by one.
 * @param orders every order that was sent.
 */
export async function audit(
  stage: Stage,
  orders: Order[],
): Promise<{ audited: Audited; doubts: Doubts; complaints: string[] }> {
  await stage.ready();
  const again = (order: Order) => insist(stage.nextUrl, order, PATIENCE_MS);
  await inParallel(
    orders.filter((order) => isOpen(order) && order.key !== undefined),
    WIDTH,
    again,
  );
  const later = await goOn(stage);
  await stage.settle();
  await inParallel(
    orders.filter((order) => isInDoubt(order) && order.key !== undefined),
    WIDTH,
    again,
  );
  const doubts = await stage.settle();
  orders.push(...(await later.end()));
  const arrivals = (await stage.upstream.arrivals()).filter(({ operation }) => !isRead(operation));
  const calls = (await readCalls(stage)).filter(({ operation }) => !isRead(operation));
  const verified = await stage.run('audit', 'verify', '--json');
  const complaints = [
    ...comparedWithUpstream(calls, arrivals),
    ...comparedWithApps(orders, calls, arrivals),
    ...(await comparedWithCaps(stage, calls, arrivals)),
  ];
  const count = (kind: string) => complaints.filter((complaint) => complaint.startsWith(kind)).length;
  return {
    doubts,
    complaints: [...complaints, ...(verified.code === 0 ? [] : [`audit verify: ${verified.output}`])],
    audited: {
      orders: orders.length,
      arrived: arrivals.length,
      acknowledged: orders.filter(isDone).length,
      refused: orders.filter((order) => !isDone(order) && !isOpen(order) && !isInDoubt(order)).length,
      unrecorded: count('unrecorded'),
      phantom: count('phantom'),
      twice: count('twice'),
      lost: count('lost'),
      unanswered: orders.filter((order) => isOpen(order) && order.key !== undefined).length,
      overspent: count('overspent'),
      inDoubt: total(doubts),
      unverified: verified.code === 0 ? 0 : 1,
    },
  };
}

/**
 * Goes on with a few payments of each kind, as an account does that is in use. The upstream's list proves that a call was
 * not carried out only if it shows a later one.
 */
async function goOn(stage: Stage): Promise<{ end: () => Promise<Order[]> }> {
  const app = await stage.app('later');
  const orders: Order[] = [];
  const stopped = new AbortController();
  const going = (async () => {
    while (!stopped.signal.aborted) {
      for (const [operation, make] of KINDS) {
        const number = FIRST_LATER + orders.length;
        const order = { app, operation, body: make(number), key: `later-${number}`, attempts: [] };
        orders.push(order);
        await insist(stage.nextUrl, order, PATIENCE_MS);
      }
      await sleep(LATER_EVERY_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  const end = async () => {
    stopped.abort();
    await going;
    return orders;
  };
  return { end };
}

async function readCalls({ database }: Stage): Promise<Call[]> {
  return database.query<Call>(
    `SELECT i.id, i.client_id AS "clientId", i.operation, convert_from(b.body, 'UTF8') AS body, s.state,
       o.upstream_status IS NOT NULL AND o.kind IN ('succeeded', 'rejected') AS answered
     FROM intent i JOIN call_state s ON s.call_id = i.id LEFT JOIN intent_body b ON b.intent_id = i.id
       LEFT JOIN outcome o ON o.intent_id = i.id`,
  );
}

function comparedWithUpstream(calls: Call[], arrivals: Arrival[]): string[] {
  const arrived = counted(arrivals.map(({ operation, body }) => identityOf(operation, body)));
  const of = (some: Call[]) => counted(some.map(({ operation, body }) => identityOf(operation, read(body))));
  const sendable = of(calls.filter(({ state }) => state !== 'refused'));
  const answered = of(calls.filter((call) => call.answered));
  return [
    ...exceeding(arrived, sendable).map((identity) => `unrecorded: ${identity}`),
    ...exceeding(answered, arrived).map((identity) => `phantom: ${identity}`),
  ];
}

function comparedWithApps(orders: Order[], calls: Call[], arrivals: Arrival[]): string[] {
  const done = counted(
    arrivals.flatMap(({ operation, body, processed }) => (processed ? [identityOf(operation, body)] : [])),
  );
  const states = new Map(calls.map(({ id, state }) => [id, state]));
  return orders.flatMap((order) => {
    const identity = identityOf(order.operation, order.body);
    const times = done.get(identity) ?? 0;
    const state = states.get(lastOf(order)?.callId ?? '');
    const isMissing = isDone(order) && (times === 0 || !['succeeded', 'confirmed'].includes(state ?? ''));
    return [
      ...(times > 1 ? [`twice: ${identity} was carried out ${times} times`] : []),
      ...(isMissing && isPaid(order)
        ? [`lost: ${identity} was acknowledged, is ${state} and was done ${times} times`]
        : []),
    ];
  });
}

const isPaid = ({ operation }: Order) => !isRead(operation);

async function comparedWithCaps({ apps, database }: Stage, calls: Call[], arrivals: Arrival[]): Promise<string[]> {
  const clientOf = new Map(calls.map(({ operation, body, clientId }) => [identityOf(operation, read(body)), clientId]));
  const paid = new Map<string, number>();
  for (const { operation, body, processed } of arrivals) {
    const client = clientOf.get(identityOf(operation, body));
    if (!processed || client === undefined || effectOf(operation) !== 'pay') continue;
    paid.set(client, (paid.get(client) ?? 0) + amountOf(body));
  }
  const counts = await database.query<{ id: string; usd: number }>(
    'SELECT client_id AS id, sum(usd)::float8 AS usd FROM spending GROUP BY 1',
  );
  const counting = new Map(counts.map(({ id, usd }) => [id, usd]));
  const over = (usd: number | undefined, capUsd: number) => (usd ?? 0) > capUsd + 1e-6;
  return apps.flatMap(({ id, name, capUsd }) =>
    capUsd !== null && (over(paid.get(id), capUsd) || over(counting.get(id), capUsd))
      ? [`overspent: ${name} may spend ${capUsd}, paid ${paid.get(id)} and counts ${counting.get(id)}`]
      : [],
  );
}

interface Body {
  valueInUSD?: number;
  amount?: number;
  airtimes?: Body[];
  momos?: Body[];
  credits?: Body[];
}

function amountOf(body: unknown): number {
  const { airtimes, momos, credits, ...item } = body as Body;
  const items = airtimes ?? momos ?? credits ?? [item];
  return items.reduce((sum, { valueInUSD, amount }) => sum + (valueInUSD ?? amount ?? 0), 0);
}

/** Returns what tells a request from all others, without what the proxy adds to it. */
function identityOf(operation: string, body: unknown): string {
  return `${operation} ${JSON.stringify(body ?? {}, withoutOwnIds)}`;
}

const OWN_IDS: readonly string[] = ['reference', 'description', 'meta'];

function withoutOwnIds(field: string, value: unknown): unknown {
  if (OWN_IDS.includes(field)) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const read = (body: string | null): unknown => (body === null || body === '' ? undefined : JSON.parse(body));

function counted(all: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

/** Returns those that are more often in the first. */
function exceeding(first: Map<string, number>, second: Map<string, number>): string[] {
  return [...first].flatMap(([identity, times]) => (times > (second.get(identity) ?? 0) ? [identity] : []));
}
