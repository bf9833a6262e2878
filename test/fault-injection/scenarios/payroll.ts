import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/payments/paying';
import { audit } from '../audit';
import { oneServer } from '../databases';
import { inParallel, insist, lastOf, Order } from '../orders';
import { orderOf } from '../payments';
import { brokenIn, inSeconds, inWords, Run, scaled, Scenario, whole } from '../scenario';
import { Stage } from '../stage';
import { livesMs, VICTIMS } from './kills';

const PAYMENTS = 10_000;
const KILLS_OF_EACH = 10;

/** Concurrent requests of the apps. */
const WIDTH = 50;

const GIVE_UP_AFTER_MS = 600_000;

/** Longest time without a change of the queue. */
const STANDS_MS = 120_000;

export const payroll: Scenario = {
  name: 'payroll',
  title: 'SIGKILL of everything during a payroll',
  promised:
    'Every payment that the proxy accepts with 202 is made once, although each process dies meanwhile.',
  seconds: 200,
  run: payAll,
};

async function payAll(run: Run) {
  run.say('starting');
  const database = await oneServer();
  const stage = await Stage.start({ database, proxies: 2 }, run.onEnd);
  const apps = [await stage.app('payroll'), await stage.app('bonus')];
  const orders = Array.from({ length: scaled(PAYMENTS, run) }, (_, number): Order => {
    return { ...orderOf(apps[number % apps.length]!, number + 1), prefer: 'respond-async' };
  });
  const begun = performance.now();
  let acceptedMs = 0;
  const accepting = inParallel(orders, WIDTH, (order) => insist(stage.nextUrl, order, GIVE_UP_AFTER_MS)).then(
    () => (acceptedMs = performance.now() - begun),
  );
  const count = orders.length; // the audit adds others
  const kills = scaled(KILLS_OF_EACH, run);
  const victims = VICTIMS.flatMap((victim) => (victim.name === 'proxy' ? [victim, victim] : [victim]));
  for (let turn = 0; turn < kills * victims.length; turn += 1) {
    run.say(`kill ${turn + 1} of ${kills * victims.length}`);
    await sleep(livesMs(turn));
    await victims[turn % victims.length]!.kill(stage, database, turn % victims.length);
    await stage.ready();
  }
  await accepting;
  const queued = orders.filter((order) => lastOf(order)?.status === 202).length;
  run.say('waiting for the queue');
  await drained(stage);
  const sentMs = performance.now() - begun;
  run.say('auditing');
  for (const order of orders) delete order.prefer; // now the apps wait for the answers
  const { audited, complaints } = await audit(stage, orders);
  return {
    did:
      `${whole(count)} payments by respond-async, and ${kills} kills of each of two proxies, the ` +
      'worker, Postgres and the upstream meanwhile',
    seen: [
      ...inWords(audited),
      `${whole(queued)} accepted with 202, all within ${inSeconds(acceptedMs)}; the queue was empty after ` +
        inSeconds(sentMs),
    ],
    broken: brokenIn(audited, complaints),
  };
}

/** Resolves once the queue is empty. @throws Error if it stands. */
async function drained({ database }: Stage): Promise<void> {
  let last = { left: Infinity, at: performance.now() };
  await eventually(async () => {
    const [row] = await database.query<{ left: number }>('SELECT count(*)::integer AS left FROM queued_call');
    const left = row?.left ?? 0;
    if (left < last.left) last = { left, at: performance.now() };
    if (performance.now() - last.at > STANDS_MS) throw new Error(`${left} calls stay in the queue`);
    return left === 0;
  }, GIVE_UP_AFTER_MS);
}
