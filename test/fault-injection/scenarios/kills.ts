import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '../audit';
import { OneServer, oneServer } from '../databases';
import { Payments } from '../payments';
import { brokenIn, inSeconds, inWords, quantile, Run, scaled, Scenario, whole } from '../scenario';
import { Stage } from '../stage';

const KILLS = 25;
const RATE = 30;

/** Returns the uptime under load before a kill. Varies the point at which kills meet requests. */
export const livesMs = (kill: number) => 300 + ((kill * 137) % 900);

interface Victim {
  name: string;
  promised: string;
  /** Sends SIGKILL, and restarts the process. Resolves once it is up. */
  kill(stage: Stage, database: OneServer, turn: number): Promise<void>;
}

export const VICTIMS: Victim[] = [
  {
    name: 'proxy',
    promised: 'A killed proxy loses no acknowledged payment and pays none twice. The other instance goes on.',
    kill: async (stage, _database, turn) => {
      await stage.fleet.kill(turn % 2);
      await stage.restartProxy(turn % 2);
    },
  },
  {
    name: 'worker',
    promised: 'Payments go on without the worker. Another one finishes what it left.',
    kill: async (stage) => {
      await stage.killWorker();
      await stage.restartWorker();
    },
  },
  {
    name: 'postgres',
    promised: 'A crashed database loses no acknowledged payment. Payments go on once it is back.',
    kill: async (_stage, { server, restart }) => {
      await server.kill();
      await restart();
    },
  },
  {
    name: 'sandbox',
    promised: 'A crashed upstream leaves calls in doubt. Its list settles them, and none is paid twice.',
    kill: async ({ upstream }) => {
      await upstream.kill();
      await upstream.restart();
    },
  },
];

export const kills: Scenario[] = VICTIMS.map((victim) => ({
  name: `kill-${victim.name}`,
  title: `SIGKILL of the ${victim.name}`,
  promised: victim.promised,
  seconds: 110,
  run: (run) => killOften(run, victim),
}));

async function killOften(run: Run, victim: Victim) {
  const count = scaled(KILLS, run);
  run.say('starting');
  const database = await oneServer();
  const stage = await Stage.start({ database, proxies: 2 }, run.onEnd);
  const payments = await Payments.of(stage);
  const recoveries: number[] = [];
  await payments.during(RATE, async () => {
    for (let kill = 1; kill <= count; kill += 1) {
      run.say(`kill ${kill} of ${count}`);
      await sleep(livesMs(kill));
      await victim.kill(stage, database, kill);
      recoveries.push(performance.now());
      await stage.ready();
    }
    await sleep(2_000);
  });
  run.say('auditing');
  const { audited, complaints } = await audit(stage, payments.orders);
  const waits = recoveries.map((moment) => payments.firstDoneAfter(moment));
  return {
    did: `${count} kills under ${RATE} payments/s (${whole(audited.orders)} payments, two instances)`,
    seen: [
      ...inWords(audited),
      `paying again ${inSeconds(quantile(waits, 0.5))} after the restart (median), ` +
        `${inSeconds(Math.max(...waits))} at worst`,
    ],
    broken: brokenIn(audited, complaints),
  };
}
