import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '../audit';
import { oneServer } from '../databases';
import { Payments } from '../payments';
import { brokenIn, countAnswers, inWords, scaled, Scenario, whole } from '../scenario';
import { Stage } from '../stage';

const RATE = 40;
const ROUNDS = 12;

/** Time an instance serves after SIGTERM, as its load balancer requires. */
const DRAIN_MS = 1_000;

export const rolling: Scenario = {
  name: 'rolling-restarts',
  title: 'Rolling restarts',
  promised: 'While two instances restart in turn, every request of a client that retries is answered.',
  seconds: 120,
  run: async (run) => {
    const rounds = scaled(ROUNDS, run);
    run.say('starting');
    const stage = await Stage.start(
      { database: await oneServer(), proxies: 2, env: { DRAIN_MS: String(DRAIN_MS) } },
      run.onEnd,
    );
    const payments = await Payments.of(stage);
    await payments.during(RATE, async () => {
      for (let round = 1; round <= rounds; round += 1) {
        for (const index of [0, 1]) {
          run.say(`round ${round} of ${rounds}, instance ${index + 1}`);
          await sleep(1_000);
          await stage.fleet.end(index);
          await stage.restartProxy(index);
          await stage.ready();
        }
      }
    });
    const repeated = payments.orders.filter(({ attempts }) => attempts.length > 1).length;
    const resets = payments.orders.flatMap(({ attempts }) =>
      attempts.filter(({ code }) => code === 'ECONNRESET'),
    );
    const first = countAnswers(payments.orders);
    run.say('auditing');
    const { audited, complaints } = await audit(stage, payments.orders);
    return {
      did: `${rounds} restarts of each of two instances with SIGTERM under ${RATE} payments/s`,
      seen: [
        `${whole(audited.orders - audited.unanswered)} of ${whole(audited.orders)} answered, ` +
          `${whole(repeated)} of them by a retry, ${resets.length} connections reset`,
        `first answers: ${first}`,
        ...inWords(audited),
      ],
      broken: brokenIn(audited, complaints),
    };
  },
};
