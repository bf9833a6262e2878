import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/payments/paying';
import { audit } from '../audit';
import { TwoServers, twoServers } from '../databases';
import { isDone, lastOf, Order } from '../orders';
import { NO_RETRY_MS, Payments } from '../payments';
import { refusalsIn, Span } from '../refusals';
import { brokenIn, inSeconds, inWords, Run, scaledMs, Scenario, whole } from '../scenario';
import { Stage } from '../stage';

const RATE = 40;

/** Duration of each of two freezes. */
const FROZEN_SECONDS = 12;

/** Interval at which an administrator cancels the commits that wait for the standby. */
const CANCEL_EVERY_MS = 50;

export const frozenStandby: Scenario = {
  name: 'frozen-standby',
  title: 'A frozen synchronous standby',
  promised:
    'While the standby confirms no commit, payments are refused with 503 within about 2 s and are never ' +
    'sent later, even if the waits for the standby are canceled. The standby has every acknowledged ' +
    'payment. Payments go on within seconds of the thaw.',
  seconds: 70,
  run: async (run) => {
    run.say('starting');
    const database = await twoServers();
    const stage = await Stage.start({ database, proxies: 2 }, run.onEnd);
    const payments = await Payments.of(stage);
    const { spans, canceled } = await freezeTwice(run, database, payments);
    const what = { happened: 'the standby was frozen', ended: 'the thaw' };
    const { sent, seen, broken } = await refusalsIn(stage, payments, spans, what);
    const unconfirmed = payments.orders.filter((order) => wasDoneWithin(order, spans)).length;
    const acknowledged = payments.orders.filter(isDone);
    const missing = await missingOnStandby(database, acknowledged);
    run.say('auditing');
    const { audited, complaints } = await audit(stage, payments.orders);
    const times = spans.map(({ from, until }) => inSeconds(until - from)).join(' and ');
    return {
      did:
        `All processes of the standby stopped for ${times} while the primary went on, under ${RATE} ` +
        `payments/s, each sent once (${whole(sent)} payments meanwhile, two instances); the second time, ` +
        `${whole(canceled)} waiting commits were canceled`,
      seen: [
        ...seen,
        `${unconfirmed} payments were acknowledged while the standby was frozen`,
        `${whole(acknowledged.length - missing)} of ${whole(acknowledged.length)} acknowledged payments ` +
          'were on the standby after it went on',
        ...inWords(audited),
      ],
      broken: [
        ...broken,
        ...(unconfirmed > 0
          ? [`${unconfirmed} payments were acknowledged while the standby was frozen`]
          : []),
        ...(missing > 0 ? [`${missing} acknowledged payments were not on the standby`] : []),
        ...(canceled === 0 ? ['no commit waited for the standby'] : []),
        ...brokenIn(audited, complaints),
      ],
    };
  },
};

/** Freezes the standby twice under load. The second time, commits that wait for it are canceled. */
async function freezeTwice(run: Run, { pair }: TwoServers, payments: Payments) {
  const spans: Span[] = [];
  let canceled = 0;
  await payments.during(
    RATE,
    async () => {
      await sleep(3_000);
      for (const cancels of [false, true]) {
        run.say(`the standby is frozen${cancels ? ', and waits for it are canceled' : ''}`);
        pair.freezeStandby();
        const from = performance.now();
        for (
          const end = from + scaledMs(FROZEN_SECONDS, run);
          performance.now() < end;
          await sleep(CANCEL_EVERY_MS)
        ) {
          if (cancels) canceled += await pair.cancelWaits();
        }
        pair.thawStandby();
        spans.push({ from, until: performance.now() });
        run.say('the standby is thawed');
        await sleep(6_000);
      }
    },
    NO_RETRY_MS,
  );
  return { spans, canceled };
}

/** Returns whether an order was sent and acknowledged within one of the spans, without a confirmed commit. */
const wasDoneWithin = (order: Order, spans: Span[]) =>
  isDone(order) &&
  spans.some(
    ({ from, until }) => (lastOf(order)?.sentAt ?? 0) >= from && (lastOf(order)?.endedAt ?? 0) < until,
  );

/** Counts the payments whose outcome is missing from the standby after it has caught up. */
async function missingOnStandby({ pair }: TwoServers, orders: Order[]): Promise<number> {
  const [now] = await pair.database.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn');
  const caughtUp = 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS has';
  await eventually(
    async () => (await pair.replica.query<{ has: boolean }>(caughtUp, [now?.lsn]))[0]?.has === true,
  );
  const ids = orders.map((order) => lastOf(order)?.callId);
  const found = await pair.replica.query(
    `SELECT FROM intent i JOIN outcome o ON o.intent_id = i.id
     WHERE i.id = ANY ($1) AND o.kind = 'succeeded'`,
    [ids],
  );
  return orders.length - found.length;
}
