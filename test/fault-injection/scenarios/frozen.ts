import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '../audit';
import { OneServer, oneServer } from '../databases';
import { NO_RETRY_MS, Payments } from '../payments';
import { refusalsIn, Span } from '../refusals';
import { brokenIn, inSeconds, inWords, Run, scaledMs, Scenario, whole } from '../scenario';
import { Stage } from '../stage';

const RATE = 40;
const FROZEN_SECONDS = 60;

export const frozen: Scenario = {
  name: 'frozen-postgres',
  title: 'A frozen Postgres',
  promised:
    'While the database does not commit, payments are refused with 503 within about 2 s and are never ' +
    'sent later. Payments go on within seconds of the thaw.',
  seconds: 120,
  run: async (run) => {
    run.say('starting');
    const database = await oneServer();
    const stage = await Stage.start({ database, proxies: 2 }, run.onEnd);
    const payments = await Payments.of(stage);
    const span = await freezeUnderLoad(run, database, payments);
    const what = { happened: 'Postgres was frozen', ended: 'the thaw' };
    const { sent, seen, broken } = await refusalsIn(stage, payments, [span], what);
    run.say('auditing');
    const { audited, complaints } = await audit(stage, payments.orders);
    return {
      did:
        `All processes of Postgres stopped for ${inSeconds(span.until - span.from)} under ${RATE} ` +
        `payments/s, each sent once (${whole(sent)} payments meanwhile, two instances)`,
      seen: [...seen, ...inWords(audited)],
      broken: [...broken, ...brokenIn(audited, complaints)],
    };
  },
};

async function freezeUnderLoad(run: Run, { server }: OneServer, payments: Payments): Promise<Span> {
  const span = { from: 0, until: 0 };
  await payments.during(
    RATE,
    async () => {
      await sleep(3_000);
      run.say('Postgres is frozen');
      server.freeze();
      span.from = performance.now();
      await sleep(scaledMs(FROZEN_SECONDS, run));
      server.thaw();
      span.until = performance.now();
      run.say('Postgres is thawed');
      await sleep(10_000);
    },
    NO_RETRY_MS,
  );
  return span;
}
