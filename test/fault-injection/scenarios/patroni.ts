import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalServer } from '../../support/databases/own-postgres';
import { queryAt } from '../../support/databases/postgres-pair';
import { eventually } from '../../support/payments/paying';
import { audit } from '../audit';
import { Database } from '../databases';
import { Payments } from '../payments';
import { brokenIn, inSeconds, inWords, quantile, scaled, Scenario } from '../scenario';
import { Stage } from '../stage';

const FAILOVERS = 5;
const RATE = 30;

const SCRIPT = join(__dirname, '..', 'patroni', 'patroni.sh');
const BASE_PORT = 5_700;

/** URL of each node that reports its role. */
const REST = [BASE_PORT + 11, BASE_PORT + 12];

const NEEDED = [
  '/usr/bin/patroni',
  '/usr/bin/etcd',
  '/usr/sbin/haproxy',
  '/usr/lib/postgresql/15/bin/postgres',
];

/** Patroni waits for the lease of the dead primary, and rebuilds it. */
const NODE_IS_BACK_WITHIN_MS = 120_000;

export const patroni: Scenario = {
  name: 'patroni',
  title: 'Failover of Patroni behind haproxy',
  promised: 'The same as of a failover by hand, decided by an existing failover manager.',
  seconds: 330,
  missing: () => {
    const lacking = NEEDED.filter((file) => !existsSync(file));
    return lacking.length === 0
      ? undefined
      : `${lacking.join(', ')} is missing (apt-get install patroni etcd-server haproxy postgresql-15)`;
  },
  run: async (run) => {
    const count = scaled(FAILOVERS, run);
    run.say('starting Patroni');
    const cluster = startCluster();
    const stage = await Stage.start({ database: cluster.database, proxies: 2 }, run.onEnd);
    const payments = await Payments.of(stage);
    const recoveries: number[] = [];
    await payments.during(RATE, async () => {
      for (let round = 1; round <= count; round += 1) {
        run.say(`failover ${round} of ${count}`);
        await sleep(2_000);
        recoveries.push(await cluster.killPrimary());
        await stage.ready();
      }
      await sleep(3_000);
    });
    run.say('auditing');
    const { audited, complaints } = await audit(stage, payments.orders);
    const waits = recoveries.map((moment) => payments.firstDoneAfter(moment));
    return {
      did:
        `${count} times SIGKILL of the primary and its Patroni under ${RATE} payments/s; two nodes with a ` +
        'synchronous standby, etcd, and haproxy before them',
      seen: [
        ...inWords(audited),
        `paying again ${inSeconds(quantile(waits, 0.5))} after the primary's end (median), ` +
          `${inSeconds(Math.max(...waits))} at worst; its lease is 20 s`,
      ],
      broken: brokenIn(audited, complaints),
    };
  },
};

interface Cluster {
  database: Database;
  /** Kills the primary with its Patroni. Resolves to the time of the kill, once a new pair is synchronous. */
  killPrimary: () => Promise<number>;
}

function startCluster(): Cluster {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-patroni-'));
  const script = (...args: string[]) =>
    execFileSync('sh', [SCRIPT, ...args], {
      env: { ...process.env, PATRONI_BASE_PORT: String(BASE_PORT) },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const [url = ''] = script('start', folder).split('\n');
  const close = () => Promise.resolve(void script('stop', folder));
  const database: Database = {
    url,
    ownerUrl: url,
    query: (sql, parameters) => queryAt(url, sql, parameters),
    close,
  };
  return { database, killPrimary };

  async function killPrimary(): Promise<number> {
    let primary = 0;
    await eventually(async () => (primary = (await find('primary')) ?? 0) > 0);
    const moment = performance.now();
    process.kill(numberIn(`patroni${primary}.pid`), 'SIGKILL');
    signalServer(numberIn(join(`pg${primary}`, 'postmaster.pid')), 'SIGKILL');
    await eventually(async () => (await find('primary')) === 3 - primary, NODE_IS_BACK_WITHIN_MS);
    script('node', String(primary), folder);
    await eventually(async () => (await find('synchronous')) === primary, NODE_IS_BACK_WITHIN_MS);
    return moment;
  }

  function numberIn(file: string): number {
    return Number(readFileSync(join(folder, file), 'utf8').split('\n')[0]);
  }
}

/** Returns the number of the node with a role. */
async function find(role: 'primary' | 'synchronous'): Promise<number | undefined> {
  const answers = await Promise.all(
    REST.map((port) =>
      fetch(`http://127.0.0.1:${port}/${role}`).then(
        ({ ok }) => ok,
        () => false,
      ),
    ),
  );
  const index = answers.indexOf(true);
  return index < 0 ? undefined : index + 1;
}
