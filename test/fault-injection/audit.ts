import { setTimeout as sleep } from 'node:timers/promises';
import { Call, comparedWithApps, comparedWithCaps, comparedWithUpstream, isRead, Payer } from './comparison';
import { KINDS } from './mixed-orders';
import { inParallel, insist, isDone, isInDoubt, isOpen, Order } from './orders';
import { Doubt, isListed, Stage } from './stage';

/** Counts of a scenario's audit. All after `refused` must be 0, unless the scenario explains them. */
export interface AuditCounts {
  orders: number;
  /** Requests of apps that arrived at the upstream. */
  arrived: number;
  /** Orders that an app knows to be executed. */
  acknowledged: number;
  /** Orders that were refused for good, for example above a cap. */
  refused: number;
  /** Arrivals without a record. */
  unrecorded: number;
  /** Calls recorded as answered by the upstream that never arrived. */
  phantom: number;
  /** Orders that were executed more than once. */
  twice: number;
  /** Acknowledged orders missing from the history as succeeded, or not executed. */
  lost: number;
  /** Orders with a key and without a final answer. */
  unanswered: number;
  /** Clients and persons whose payments exceed their cap. */
  overspent: number;
  /** Calls with an unknown outcome. */
  inDoubt: number;
  /** 1 if the log could not be verified, else 0. */
  unverified: number;
}

/** First number of the later orders, outside of the range of the others. */
const FIRST_LATER = 80_000_000;
const LATER_EVERY_MS = 1_000;

const GIVE_UP_AFTER_MS = 60_000;
const WIDTH = 8;

/**
 * Lets the apps and the worker finish, and compares answers to apps, history and upstream one by one.
 * @param orders every sent order.
 */
export async function audit(
  stage: Stage,
  orders: Order[],
): Promise<{ audited: AuditCounts; doubts: Doubt[]; complaints: string[] }> {
  await stage.ready();
  const again = (order: Order) => insist(stage.nextUrl, order, GIVE_UP_AFTER_MS);
  const later = await goOn(stage); // first, because a call in doubt is judged less and less often
  await inParallel(
    orders.filter((order) => isOpen(order) && order.key !== undefined),
    WIDTH,
    again,
  );
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
    ...doubts
      .filter(isListed)
      .map((doubt) => `in doubt, although the list shows it: ${JSON.stringify(doubt)}`),
    ...comparedWithCaps(await readPayers(stage), calls, arrivals, await readSpending(stage)),
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
      inDoubt: doubts.length,
      unverified: verified.code === 0 ? 0 : 1,
    },
  };
}

/**
 * Continues with a few payments of each kind, like an account in use. The upstream's list proves that a call
 * was not executed only if it shows a later one.
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
        await insist(stage.nextUrl, order, GIVE_UP_AFTER_MS);
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
    `SELECT i.id, i.client_id AS "clientId", i.person_id AS "personId", i.operation,
      convert_from(b.body, 'UTF8') AS body, s.state,
       o.upstream_status IS NOT NULL AND o.kind IN ('succeeded', 'rejected') AS answered
     FROM intent i JOIN call_state s ON s.call_id = i.id LEFT JOIN intent_body b ON b.intent_id = i.id
       LEFT JOIN outcome o ON o.intent_id = i.id`,
  );
}

/** Reads the apps and their persons. */
async function readPayers({ apps, database }: Stage): Promise<Payer[]> {
  const persons = await database.query<Payer>(
    `SELECT p.id, p.name, c.person_daily_cap_usd::float8 AS "capUsd" FROM person p
      JOIN client c ON c.id = p.client_id`,
  );
  return [...apps, ...persons];
}

async function readSpending({ database }: Stage): Promise<Map<string, number>> {
  const rows = await database.query<{ id: string; usd: number }>(
    `SELECT client_id AS id, sum(usd)::float8 AS usd FROM spending GROUP BY 1
     UNION ALL SELECT payer_id, sum(usd)::float8 FROM payer_spending GROUP BY 1`,
  );
  return new Map(rows.map(({ id, usd }) => [id, usd]));
}
