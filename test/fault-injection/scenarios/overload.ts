import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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

const ACCEPTED_P99_MS = 2_000;
const REFUSED_WITHIN_MS = 1_000;
const RECOVERED_WITHIN_MS = 2_000;

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
    `Accepted payments take less than ${inSeconds(ACCEPTED_P99_MS)} (p99). All others are refused within ` +
    `${inSeconds(REFUSED_WITHIN_MS)}, without an intent and without a reset connection. Payments succeed ` +
    'as soon as the load is over.',
  seconds: 130,
  run: async (run) => {
    run.say('starting');
    const stage = await Stage.start({ database: await oneServer() }, run.onEnd);
    const apps = await Promise.all(['shop', 'market', 'agency'].map((name) => stage.app(name)));
    const flood = floodOf(stage, apps, run);
    run.say('measuring the capacity');
    await flood({ connections: CAPACITY_CONNECTIONS, seconds: WARM_UP_SECONDS });
    const closed = await flood({ connections: CAPACITY_CONNECTIONS, seconds: CAPACITY_SECONDS });
    const capacity = paid(closed).length / CAPACITY_SECONDS;
    const rate = Math.ceil(TIMES * capacity);
    const seconds = scaledMs(SECONDS, run) / 1_000;
    run.say(`sending ${whole(rate)} payments/s`);
    const answers = await flood({ connections: CONNECTIONS, seconds, rate });
    const recovered = await recovery(stage, apps, answers.length);
    run.say('auditing');
    const orders = [...closed, ...answers]
      .filter(([, status]) => status === 200)
      .map((one) => orderIn(apps, one));
    const { audited, complaints } = await audit(stage, [...orders, ...recovered.orders]);
    const figures = {
      ...figuresOf(answers),
      intents: await intentsOfRefused(stage, answers),
      recoveredMs: recovered.ms,
    };
    return {
      did:
        `An open loop of ${whole(rate)} payments/s for ${seconds} s, ${TIMES} times what one instance did ` +
        `(${whole(capacity)}/s)`,
      seen: [...seenIn(figures), ...inWords(audited)],
      broken: [...brokenOf(figures), ...brokenIn(audited, complaints)],
    };
  },
};

interface Round {
  connections: number;
  seconds: number;
  rate?: number;
}

/** Returns a function that runs a round of load. Each round continues the numbers of the last. */
function floodOf(stage: Stage, apps: App[], { onEnd }: Run): (round: Round) => Promise<Answer[]> {
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

type Figures = ReturnType<typeof figuresOf> & { intents: number; recoveredMs: number };

function seenIn(figures: Figures): string[] {
  const { sent, accepted, acceptedP99, refused, refusedP99, refusedWorst, refusedAs, intents } = figures;
  return [
    `${whole(accepted)} of ${whole(sent)} accepted, p99 ${inSeconds(acceptedP99)}`,
    `${whole(refused)} refused (${refusedAs}), p99 ${inSeconds(refusedP99)}, worst ` +
      `${inSeconds(refusedWorst)}, ${whole(intents)} with an intent`,
    `${whole(figures.lost)} connections lost, ${whole(figures.others)} other answers ` +
      `(${figures.othersAs || 'none'})`,
    `${RECOVERED_AFTER} payments in a row ${inSeconds(figures.recoveredMs)} after the load`,
  ];
}

function brokenOf({ acceptedP99, refusedWorst, intents, lost, lostAs, recoveredMs }: Figures): string[] {
  return [
    ...(acceptedP99 > ACCEPTED_P99_MS ? [`the p99 of accepted payments is ${inSeconds(acceptedP99)}`] : []),
    ...(refusedWorst > REFUSED_WITHIN_MS ? [`a refusal took ${inSeconds(refusedWorst)}`] : []),
    ...(intents > 0 ? [`${whole(intents)} refused payments have an intent`] : []),
    ...(lost > 0 ? [`${whole(lost)} connections were lost (${lostAs})`] : []),
    ...(recoveredMs > RECOVERED_WITHIN_MS
      ? [`payments were made as usual only ${inSeconds(recoveredMs)} after the load`]
      : []),
  ];
}
