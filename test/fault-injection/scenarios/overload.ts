import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_SECONDS } from '../../../src/gateway/admission-control/patience';
import { audit } from '../audit';
import { oneServer } from '../databases';
import { App, attempt, Order } from '../orders';
import { orderOf } from '../payments';
import { brokenIn, inSeconds, inWords, quantile, Run, scaledMs, Scenario, whole } from '../scenario';
import { Stage } from '../stage';

const TIMES = 5;
const SECONDS = 60;
const WARM_UP_SECONDS = 4;
const CAPACITY_SECONDS = 8;
const CAPACITY_CONNECTIONS = 64;

/** Above the number needed while answers are as fast as promised. */
const CONNECTIONS = 3_000;

/** Time for the queue to empty between two floods. */
const REST_MS = 5_000;

/** Longest time of the upstream under this load. */
const UPSTREAM_MS = 1_000;

/** The floods: requests of apps with little patience, and with that of most apps. */
const FLOODS = [
  { name: '`Prefer: wait=1`', prefer: 'wait=1', acceptedP99Ms: 2_000 },
  {
    name: 'the default patience',
    prefer: undefined,
    acceptedP99Ms: PATIENCE_SECONDS.pay * 1_000 + UPSTREAM_MS,
  },
] as const;
type Flood = (typeof FLOODS)[number];

const REFUSED_WITHIN_MS = 1_000;
const RECOVERED_WITHIN_MS = 2_000;

/** Part of the capacity that is paid during a flood. The refusals take the rest. */
const PAID_SHARE = 1 / 3;

/** Number of consecutive payments that show the end of the load. */
const RECOVERED_AFTER = 10;

/** Statuses that refuse load. */
const REFUSALS: readonly number[] = [429, 503];

/** Number of the request, status (0 for none), code, call ID, milliseconds. */
type Answer = [number, number, string | undefined, string | undefined, number];

export const overload: Scenario = {
  name: 'overload',
  title: 'Five times the capacity',
  promised:
    `Accepted payments take less than ${inSeconds(FLOODS[0].acceptedP99Ms)} (p99) with \`Prefer: wait=1\`, ` +
    `and less than ${inSeconds(FLOODS[1].acceptedP99Ms)} with the default patience. All others are refused ` +
    `within ${inSeconds(REFUSED_WITHIN_MS)}, without an intent and without a reset connection. ` +
    'Meanwhile, a third of the capacity is paid. Payments succeed as soon as the load is over.',
  seconds: 200,
  run: async (run) => {
    run.say('starting');
    const stage = await Stage.start({ database: await oneServer() }, run.onEnd);
    const apps = await Promise.all(['shop', 'market', 'agency'].map((name) => stage.app(name)));
    const send = senderOf(stage, apps, run);
    run.say('measuring the capacity');
    await send({ connections: CAPACITY_CONNECTIONS, seconds: WARM_UP_SECONDS });
    const closed = await send({ connections: CAPACITY_CONNECTIONS, seconds: CAPACITY_SECONDS });
    const capacity = paid(closed).length / CAPACITY_SECONDS;
    const rate = Math.ceil(TIMES * capacity);
    const seconds = scaledMs(SECONDS, run) / 1_000;
    let all = closed;
    let orders: Order[] = [];
    const seen: string[] = [];
    const broken: string[] = [];
    for (const flood of FLOODS) {
      run.say(`sending ${whole(rate)} payments/s with ${flood.name}`);
      const answers = await send({ connections: CONNECTIONS, seconds, rate, prefer: flood.prefer });
      all = all.concat(answers); // more than a function may have arguments
      const recovered = await recovery(stage, apps, all.length);
      orders.push(...recovered.orders);
      const intents = await intentsOfRefused(stage, answers);
      const paidShare = paid(answers).length / seconds / capacity;
      const figures = { ...figuresOf(answers), intents, paidShare, recoveredMs: recovered.ms };
      seen.push(...seenIn(flood, figures));
      broken.push(...brokenOf(flood, figures).map((text) => `with ${flood.name}, ${text}`));
      await sleep(REST_MS);
    }
    run.say('auditing');
    orders = orders.concat(paid(all).map((one) => orderIn(apps, one)));
    const { audited, complaints } = await audit(stage, orders);
    return {
      did:
        `Two open loops of ${whole(rate)} payments/s for ${seconds} s each, ${TIMES} times what one ` +
        `instance did (${whole(capacity)}/s)`,
      seen: [...seen, ...inWords(audited)],
      broken: [...broken, ...brokenIn(audited, complaints)],
    };
  },
};

interface Round {
  connections: number;
  seconds: number;
  rate?: number;
  prefer?: string | undefined;
}

/** Returns a function that runs a round of load. Each round continues the numbers of the last. */
function senderOf(stage: Stage, apps: App[], { onEnd }: Run): (round: Round) => Promise<Answer[]> {
  const child = fork(join(__dirname, '..', 'flood.mjs'));
  onEnd(() => Promise.resolve(void child.kill('SIGKILL')));
  let first = apps.length; // a multiple, so that the number determines the app
  return async (round) => {
    child.send({ urls: stage.fleet.urls, apiKeys: apps.map(({ key }) => key), first, ...round });
    const [answers] = (await once(child, 'message')) as [Answer[]];
    first += answers.length;
    return answers;
  };
}

const paid = (answers: Answer[]) => answers.filter(([, status]) => status === 200);

/** Converts a request of the load and its answer to an order. */
function orderIn(apps: App[], [number, status, code, callId, ms]: Answer): Order {
  const app = apps[number % apps.length];
  if (!app) throw new Error('there is no app');
  const order = orderOf(app, number);
  order.attempts.push({
    sentAt: 0,
    endedAt: ms,
    status,
    code,
    callId,
    retryAfterMs: undefined,
    json: undefined,
  });
  return order;
}

/** Pays one by one, until enough consecutive payments succeed immediately. */
async function recovery(stage: Stage, [app]: App[], after: number): Promise<{ ms: number; orders: Order[] }> {
  if (!app) throw new Error('there is no app');
  const begun = performance.now();
  const orders: Order[] = [];
  const FAR = 50_000_000; // far from the numbers of the load
  for (let inRow = 0; inRow < RECOVERED_AFTER;) {
    const order = orderOf(app, FAR + after + orders.length);
    orders.push(order);
    const { status, sentAt, endedAt } = await attempt(stage.nextUrl(), order);
    inRow = status === 200 && endedAt - sentAt < REFUSED_WITHIN_MS ? inRow + 1 : 0;
    if (inRow === 0) await sleep(20);
    if (performance.now() - begun > 60_000) break;
  }
  return { ms: performance.now() - begun, orders };
}

function figuresOf(answers: Answer[]) {
  const of = (some: Answer[]) => some.map(([, , , , ms]) => ms);
  const accepted = paid(answers);
  const refused = answers.filter(([, status]) => REFUSALS.includes(status));
  const lost = answers.filter(([, status]) => status === 0);
  const others = answers.filter(([, status]) => status !== 0 && status !== 200 && !REFUSALS.includes(status));
  return {
    sent: answers.length,
    accepted: accepted.length,
    acceptedP99: quantile(of(accepted), 0.99),
    refused: refused.length,
    refusedP99: quantile(of(refused), 0.99),
    refusedWorst: refused.length === 0 ? 0 : of(refused).reduce((worst, ms) => Math.max(worst, ms), 0),
    refusedAs: [...new Set(refused.map(([, status, code]) => `${status} ${code}`))].join(', '),
    lost: lost.length,
    lostAs: [...new Set(lost.map(([, , code]) => code))].join(', '),
    others: others.length,
    othersAs: [...new Set(others.map(([, status, code]) => `${status} ${code}`))].join(', '),
  };
}

/** Counts the calls that were refused because of the load, but have an intent. */
async function intentsOfRefused({ database }: Stage, answers: Answer[]): Promise<number> {
  const ids = answers.flatMap(([, status, , callId]) =>
    REFUSALS.includes(status) && callId ? [callId] : [],
  );
  const rows = await database.query('SELECT FROM intent WHERE id = ANY ($1)', [ids]);
  return rows.length;
}

type Figures = ReturnType<typeof figuresOf> & { intents: number; paidShare: number; recoveredMs: number };

function seenIn({ name }: Flood, figures: Figures): string[] {
  const { sent, accepted, acceptedP99, refused, refusedP99, refusedWorst, refusedAs, intents } = figures;
  return [
    `with ${name}: ${whole(accepted)} of ${whole(sent)} accepted ` +
      `(${whole(figures.paidShare * 100)} % of the capacity), p99 ${inSeconds(acceptedP99)}`,
    `${whole(refused)} refused (${refusedAs}), p99 ${inSeconds(refusedP99)}, worst ` +
      `${inSeconds(refusedWorst)}, ${whole(intents)} with an intent`,
    `${whole(figures.lost)} connections lost, ${whole(figures.others)} other answers ` +
      `(${figures.othersAs || 'none'})`,
    `${RECOVERED_AFTER} payments in a row ${inSeconds(figures.recoveredMs)} after the load`,
  ];
}

function brokenOf({ acceptedP99Ms }: Flood, figures: Figures): string[] {
  const { acceptedP99, refusedWorst, intents, paidShare, lost, lostAs, others, othersAs, recoveredMs } =
    figures;
  return [
    ...(acceptedP99 > acceptedP99Ms ? [`the p99 of accepted payments is ${inSeconds(acceptedP99)}`] : []),
    ...(refusedWorst > REFUSED_WITHIN_MS ? [`a refusal took ${inSeconds(refusedWorst)}`] : []),
    ...(intents > 0 ? [`${whole(intents)} refused payments have an intent`] : []),
    ...(lost > 0 ? [`${whole(lost)} connections were lost (${lostAs})`] : []),
    ...(others > 0 ? [`${whole(others)} other answers were sent (${othersAs})`] : []),
    ...(paidShare < PAID_SHARE ? [`only ${whole(paidShare * 100)} % of the capacity was paid`] : []),
    ...(recoveredMs > RECOVERED_WITHIN_MS
      ? [`payments were made as usual only ${inSeconds(recoveredMs)} after the load`]
      : []),
  ];
}
