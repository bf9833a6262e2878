import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '../audit';
import { OneServer, oneServer } from '../databases';
import { Order } from '../orders';
import { Payments } from '../payments';
import { brokenIn, inSeconds, inWords, quantile, Run, scaledMs, Scenario, toldIn, whole } from '../scenario';
import { Stage } from '../stage';

const RATE = 40;
const FROZEN_SECONDS = 60;

/** Promised are two seconds. The machine may be busy. */
const REFUSED_WITHIN_MS = 3_000;

const PAYING_AGAIN_WITHIN_MS = 5_000;

export const frozen: Scenario = {
  name: 'frozen-postgres',
  title: 'A frozen Postgres',
  promised:
    'While the database does not commit, payments are refused with 503 within about 2 s and are never sent later. Payments go on within seconds of the thaw.',
  seconds: 120,
  run: async (run) => {
    run.say('starting');
    const database = await oneServer();
    const stage = await Stage.start({ database, proxies: 2 }, run.onEnd);
    const payments = await Payments.of(stage);
    const { frozenAt, thawedAt } = await freezeUnderLoad(run, database, payments);
    const during = payments.orders.filter((order) => beganIn(order, frozenAt, thawedAt));
    const refused = during.filter(({ attempts: [first] }) => first?.status === 503);
    const waits = refused.map(({ attempts: [first] }) => (first ? first.endedAt - first.sentAt : 0));
    const worst = Math.max(...waits);
    // Before anybody asks again.
    const arrived = new Set((await stage.upstream.arrivals()).map(({ body }) => JSON.stringify(body)));
    const sentLater = refused.filter(({ body }) => arrived.has(JSON.stringify(body)));
    const again = payments.firstDoneAfter(thawedAt);
    run.say('auditing');
    const { audited, complaints } = await audit(stage, payments.orders);
    return {
      did: `All processes of Postgres stopped for ${inSeconds(thawedAt - frozenAt)} under ${RATE} payments/s, each asked once (${whole(during.length)} payments meanwhile, two instances)`,
      seen: [
        `answers to what was sent during the freeze: ${toldIn(during)}`,
        `refusals took ${inSeconds(quantile(waits, 0.5))} (median), ${inSeconds(worst)} at worst`,
        `${sentLater.length} of ${whole(refused.length)} refused payments were sent later`,
        `paying again ${inSeconds(again)} after the thaw`,
        ...inWords(audited),
      ],
      broken: [
        ...(worst > REFUSED_WITHIN_MS ? [`a refusal took ${inSeconds(worst)} while Postgres was frozen`] : []),
        ...(sentLater.length > 0 ? [`${sentLater.length} payments were sent although their apps were told 503`] : []),
        ...(again > PAYING_AGAIN_WITHIN_MS ? [`payments went on only ${inSeconds(again)} after the thaw`] : []),
        ...brokenIn(audited, complaints),
      ],
    };
  },
};

async function freezeUnderLoad(run: Run, { server }: OneServer, payments: Payments) {
  const moments = { frozenAt: 0, thawedAt: 0 };
  const asksOnce = 0;
  await payments.during(
    RATE,
    async () => {
      await sleep(3_000);
      run.say('Postgres is frozen');
      server.freeze();
      moments.frozenAt = performance.now();
      await sleep(scaledMs(FROZEN_SECONDS, run));
      server.thaw();
      moments.thawedAt = performance.now();
      run.say('Postgres is thawed');
      await sleep(10_000);
    },
    asksOnce,
  );
  return moments;
}

const beganIn = ({ attempts: [first] }: Order, from: number, until: number) =>
  first !== undefined && first.sentAt >= from && first.sentAt < until;
