import { audit } from '../audit';
import { isRead } from '../comparison';
import { oneServer } from '../databases';
import { MAKERS, ObjectIds, remember } from '../mixed-orders';
import { App, attempt, insist, isDone, lastOf, openLoop, Order } from '../orders';
import { brokenIn, inWords, Run, scaled, Scenario, whole } from '../scenario';
import { isListed, Stage } from '../stage';

const ORDERS = 10_000;
const RATE = 110;

/** Probability per kind. Together, they strike about every sixth request. */
const PROBABILITY = 0.014;

const FAULTS: object[] = [
  { fault: 'delay', ms: 1_000 },
  { fault: 'noResponse' },
  { fault: 'resetBeforeProcessing' },
  { fault: 'resetAfterProcessing' },
  { fault: 'lateProcessing', ms: 1_500 },
  { fault: 'error500' },
  { fault: 'error500AfterProcessing' },
  { fault: 'error502Html' },
  { fault: 'truncatedBody' },
  { fault: 'malformedJson' },
  { fault: 'redirect' },
  { fault: 'tooManyRequests' },
];

/** One in this many orders has no key, and one in this many is sent twice at once. */
const KEYLESS = 5;
const REPEATED = 7;

export const mixed: Scenario = {
  name: 'mixed-requests',
  title: 'All operations, and an upstream with faults',
  promised:
    'The history and the upstream agree about every request, for any answer of the upstream. Repeats of ' +
    'a key are carried out once, and get the same answer.',
  seconds: 170,
  run: async (run) => {
    run.say('starting');
    const stage = await Stage.start({ database: await oneServer(), proxies: 2 }, run.onEnd);
    for (const [seed, fault] of FAULTS.entries()) {
      await stage.upstream.control('POST', '/faults', { ...fault, probability: PROBABILITY, seed: seed + 1 });
    }
    const { orders, different } = await askAll(run, stage);
    await stage.upstream.control('DELETE', '/faults');
    const struck = (await stage.upstream.arrivals()).filter(({ fault }) => fault !== null).length;
    run.say('auditing');
    const { audited, complaints, doubts } = await audit(stage, orders);
    const unlisted = doubts.filter((doubt) => !isListed(doubt)).map(({ operation }) => operation);
    return {
      did:
        `${whole(orders.length)} requests of ${operationsOf(orders)} operations at ${RATE}/s over two ` +
        `instances, ${FAULTS.length} kinds of fault (${whole(struck)} struck), one in ${KEYLESS} without ` +
        `a key, one in ${REPEATED} sent twice at once`,
      seen: [
        ...inWords(audited),
        `of those in doubt, ${unlisted.length} wait for a person, because the upstream's list does not ` +
          `prove who made them (${[...new Set(unlisted)].join(', ') || 'none'})`,
      ],
      broken: [...different, ...brokenIn(audited, complaints)],
    };
  },
};

async function askAll(run: Run, stage: Stage): Promise<{ orders: Order[]; different: string[] }> {
  const apps = await Promise.all([
    stage.app('shop'),
    stage.app('market'),
    stage.app('capped', { capUsd: 10 }),
  ]);
  const count = scaled(ORDERS, run);
  const named: ObjectIds = { unpaid: [], credits: [], collections: [], accounts: [] };
  const makers = MAKERS.flatMap(([operation, times, make]) =>
    Array.from({ length: times }, () => ({ operation, make })),
  );
  const orders: Order[] = [];
  const different: string[] = [];
  const begin = async () => {
    const order = nextOrder(orders.length + 1, apps, makers, named);
    orders.push(order);
    if (orders.length % 100 === 0) run.say(`${whole(orders.length)} of ${whole(count)} requests`);
    if (orders.length % REPEATED === 0 && order.key !== undefined) {
      const duplicate: Order = { ...order, attempts: [] };
      await Promise.all([order, duplicate].map((one) => insist(stage.nextUrl, one, 60_000)));
      if (isDone(order) && isDone(duplicate) && !areAlike(order, duplicate))
        different.push(`${order.key} got two answers`);
    } else if (order.key === undefined) await attempt(stage.nextUrl(), order);
    else await insist(stage.nextUrl, order, 60_000);
    if (isDone(order)) remember(order.operation, lastOf(order)?.json, named);
  };
  await openLoop(RATE, () => orders.length >= count, begin);
  return { orders, different };
}

type Maker = { operation: string; make: (typeof MAKERS)[number][2] };

/** Orders follow a fixed pattern: each operation for each app, with and without a key. */
function nextOrder(number: number, apps: App[], makers: Maker[], named: ObjectIds): Order {
  const app = apps[number % apps.length];
  for (let offset = number * 17; ; offset += 1) {
    const maker = makers[offset % makers.length];
    const asking = maker?.make(number, named);
    if (!app || !maker || !asking) continue;
    const key = number % KEYLESS === 0 || isRead(maker.operation) ? undefined : `order-${number}`;
    return { app, operation: maker.operation, body: asking.body, key, attempts: [], ...asking };
  }
}

const operationsOf = (orders: Order[]): number => new Set(orders.map(({ operation }) => operation)).size;

const areAlike = (one: Order, other: Order): boolean =>
  JSON.stringify(lastOf(one)?.json) === JSON.stringify(lastOf(other)?.json);
