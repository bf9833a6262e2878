import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '../audit';
import { TwoServers, twoServers } from '../databases';
import { Payments } from '../payments';
import { brokenIn, inSeconds, inWords, quantile, Run, scaled, Scenario } from '../scenario';
import { Stage } from '../stage';

const FAILOVERS = 20;
const RATE = 30;

/** Interval at which an administrator cancels the commits that wait for a frozen standby. */
const CANCEL_EVERY_MS = 50;
const CANCELING_MS = 700;

export const failover: Scenario = {
  name: 'failover',
  title: 'Failover to a synchronous standby',
  promised:
    'The promoted standby has every acknowledged payment, even if waits for it were canceled before. ' +
    'Payments go on without a command.',
  seconds: 240,
  run: async (run) => {
    const count = scaled(FAILOVERS, run);
    run.say('starting');
    const database = await twoServers();
    const stage = await Stage.start({ database, proxies: 2 }, run.onEnd);
    const payments = await Payments.of(stage);
    const recoveries: number[] = [];
    let canceled = 0;
    await payments.during(RATE, async () => {
      for (let round = 1; round <= count; round += 1) {
        run.say(`failover ${round} of ${count}`);
        await sleep(1_000);
        // Every second round cancels commits that only the old primary has.
        if (round % 2 === 0 || count === 1) canceled += await cancelWaits(database);
        recoveries.push(await failOver(run, stage, database));
      }
    });
    run.say('auditing');
    const { audited, complaints } = await audit(stage, payments.orders);
    const waits = recoveries.map((moment) => payments.firstDoneAfter(moment));
    return {
      did:
        `${count} times SIGKILL of the primary and a promotion under ${RATE} payments/s; before every ` +
        `second one, the standby stood still and ${canceled} waiting commits were canceled`,
      seen: [
        ...inWords(audited),
        `paying again ${inSeconds(quantile(waits, 0.5))} after the primary's end (median), ` +
          `${inSeconds(Math.max(...waits))} at worst`,
      ],
      broken: brokenIn(audited, complaints),
    };
  },
};

/** Lets commits wait for a frozen standby, and cancels the waits. Resolves to their number. */
async function cancelWaits({ pair }: TwoServers): Promise<number> {
  pair.freezeStandby();
  let canceled = 0;
  for (const end = performance.now() + CANCELING_MS; performance.now() < end; await sleep(CANCEL_EVERY_MS)) {
    canceled += await pair.cancelWaits();
  }
  return canceled;
}

/** Resolves to the time of the primary's end, once a new pair is complete. */
async function failOver(run: Run, stage: Stage, { pair, move }: TwoServers): Promise<number> {
  const moment = performance.now();
  await pair.killPrimary();
  pair.thawStandby();
  await pair.failOver();
  move();
  await stage.ready();
  await sleep(run.factor < 1 ? 500 : 1_500);
  await pair.rejoin(); // the primary restarts with a standby
  await stage.ready();
  return moment;
}
