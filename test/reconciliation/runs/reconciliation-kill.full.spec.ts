import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { ServerClient } from '../../../src/platform/database/servers/server-client';
import { JOB_CHANNEL, JobName } from '../../../src/platform/jobs/job';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { runs } from '../../support/examples/runs';
import { eventually, phones } from '../../support/payments/paying';
import { removeDataDir } from '../../support/processes/data-dir';
import { envOf, newDataDir, Product } from '../../support/processes/process';
import { startProxy, UPSTREAM_KEY } from '../../support/processes/proxy';
import {
  ProxyAccess,
  askForRun,
  ended,
  readRun,
  ReconciliationScene,
  reconcile,
  startReconciling,
  untilNow,
} from '../../support/reconciliation/reconciliation-scene';

/** Seeds of the random kill times. */
const SEEDS = Array.from({ length: runs(2) }, (_, index) => 2 + index);

/** Kills per run. Then it may finish. */
const KILLS = 6;

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Private fields of pg. */
const innardsOf = (client: Client) =>
  client as unknown as {
    connectionParameters: { application_name: string };
    connection: { stream: { destroy(): void } };
  };

/**
 * Intercepts each query of a run before it is sent.
 * @param heard may send the query itself, and returns whether it did.
 */
function onQuestions(heard: (client: Client, ask: () => unknown) => { answer: unknown } | void): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
  const original = ServerClient.prototype.query as (...given: unknown[]) => unknown;
  jest.spyOn(ServerClient.prototype, 'query').mockImplementation(function (
    this: Client,
    ...given: unknown[]
  ) {
    const ask = () => original.apply(this, given);
    const isRun = innardsOf(this).connectionParameters.application_name === 'payout-proxy reconciliation';
    return (isRun ? heard(this, ask) : undefined)?.answer ?? ask();
  });
}

/** A query of a run, and when its connection ends: before sending, or shortly after. */
interface Kill {
  question: number;
  sent: boolean;
  afterMs: number;
}

/**
 * Ends a run's connection at these queries, one after the other, which is all that the database sees of
 * kills.
 */
function killAt(kills: Kill[]): { done: number } {
  const counts = { done: 0, asked: 0 };
  onQuestions((client, ask) => {
    const kill = kills[counts.done];
    if (!kill || counts.asked++ !== kill.question) return undefined;
    Object.assign(counts, { done: counts.done + 1, asked: 0 });
    const never = () =>
      new Promise((_, reject) => client.once('end', () => reject(new Error('Connection terminated'))));
    const answer = kill.sent ? ask() : never();
    setTimeout(() => innardsOf(client).connection.stream.destroy(), kill.afterMs);
    return { answer };
  });
  return counts;
}

/** Notifies workers of runs continuously, so none waits for its own check for killed ones. */
function tellWorkers(database: TestDatabase): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const telling = (async () => {
    while (!stopping.signal.aborted) {
      await database.query('SELECT pg_notify($1, $2)', [JOB_CHANNEL, 'runs' satisfies JobName]);
      await sleep(50);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await telling;
    },
  };
}

/** Data left by a run, except for IDs and times. */
async function resultOf(database: TestDatabase): Promise<Record<string, Record<string, unknown>[]>> {
  const findings = await database.query(
    `SELECT category, subject, call_id, position, upstream_ref, occurred_at, impact_usd, fields::text,
       evidence #>> '{match}' AS match, evidence #>> '{theirs,ordinal}' AS ordinal
     FROM finding f JOIN finding_sight s ON s.finding_id = f.id ORDER BY category, subject`,
  );
  const matches = await database.query(
    'SELECT call_id, position, ordinal, rule, certainty FROM reconciliation_match ORDER BY call_id, position',
  );
  const ends = await database.query('SELECT result, failure, totals::text FROM reconciliation_run_end');
  const counts = await database.query(
    'SELECT (SELECT count(*) FROM finding) AS findings, (SELECT count(*) FROM finding_step) AS steps',
  );
  return { findings, matches, ends, counts };
}

describe('a run whose worker is killed', () => {
  let scene: ReconciliationScene;
  let template: string;
  let period: object;
  let undisturbed: Awaited<ReturnType<typeof resultOf>>;
  /** Number of queries on the run's own connection. */
  let questions = 0;
  const databases: TestDatabase[] = [];

  const copy = async () => {
    const database = await createTestDatabase(template);
    databases.push(database);
    return database;
  };
  const asking = (url: string): ProxyAccess => ({ url, key: scene.reconciler });

  beforeAll(async () => {
    scene = await startReconciling();
    await Promise.all(phones(20).map((phone) => scene.pay(phone).expect(200)));
    await scene.pay('+254799990101').expect(200);
    await scene.pay('+254799990216').expect(200);
    const airtimes = phones(5).map((phoneNumber) => ({
      countryToSend: 'Kenya',
      phoneNumber,
      valueInUSD: 7.25,
    }));
    await scene.past('/payouts/airtime', { airtimes }).expect(200);
    await scene.hurry();
    period = untilNow();
    await scene.proxy.app.close(); // its upstream and its database stay up
    await scene.worker.close();
    template = await scene.proxy.database.asTemplate();

    const database = await copy();
    const proxy = await startProxy({ upstreamBaseUrl: scene.sandbox.url }, database);
    await proxy.startWorker();
    onQuestions(() => void (questions += 1));
    await reconcile(asking(proxy.url), period);
    jest.restoreAllMocks();
    await proxy.close();
    undisturbed = await resultOf(database);
  });
  afterAll(async () => {
    for (const database of databases) await database.close();
    await scene.sandbox.close();
    await scene.proxy.database.close();
  });

  it('has findings and matches without a kill', () => {
    expect(undisturbed.findings?.map((one) => one.category)).toEqual([
      'duplicate_upstream',
      ...Array<string>(5).fill('missing_local'),
      'status',
    ]);
    expect(undisturbed.matches).toHaveLength(22);
    expect(undisturbed.ends).toMatchObject([{ result: 'findings' }]);
  });

  it.each(SEEDS)('gives the same result when killed at random points (seed %i)', async (seed) => {
    const next = random(seed);
    const database = await copy();
    const proxy = await startProxy({ upstreamBaseUrl: scene.sandbox.url }, database);
    await proxy.startWorker();
    const kills = killAt(
      Array.from({ length: KILLS }, (_, place) => ({
        // Only the last kill may hit the end. The run is over once its last query is answered.
        question: Math.floor((next() * questions) / (place === KILLS - 1 ? 1 : 2)),
        sent: next() < 0.5,
        afterMs: next() < 0.3 ? next() * 30 : 0,
      })),
    );
    const { body } = await askForRun(asking(proxy.url), period).expect(202);
    const telling = tellWorkers(database);
    await ended(asking(proxy.url), body.id);
    await telling.stop();
    jest.restoreAllMocks();
    await proxy.close();
    expect(kills.done).toBeGreaterThan(KILLS / 2); // the others were not reached
    expect(await resultOf(database)).toEqual(undisturbed);
    const whole =
      'SELECT source FROM source_read r JOIN source_read_end e ON e.read_id = r.id WHERE complete ORDER BY 1';
    // not requested twice
    expect(await database.query(whole)).toEqual([{ source: 'transactions' }, { source: 'wallets' }]);
  });

  it('continues on another worker after the first is killed for good', async () => {
    const database = await copy();
    const upstream = { UPSTREAM_BASE_URL: scene.sandbox.url, UPSTREAM_API_KEY: UPSTREAM_KEY };
    const dir = newDataDir();
    const worker = new Product('worker/main.js', [], { ...envOf(database), ...upstream, DATA_DIR: dir }, dir);
    const proxy = await startProxy({ upstreamBaseUrl: scene.sandbox.url }, database);
    await scene.fault({ fault: 'delay', operation: 'POST /account/transactions', nth: 1, ms: 1_500 });
    const { body } = await askForRun(asking(proxy.url), period).expect(202);
    await eventually(async () => (await readRun(asking(proxy.url), body.id)).state === 'running');
    await worker.signal('SIGKILL');
    // Immediately, because the system closes its connections.
    await eventually(async () => (await readRun(asking(proxy.url), body.id)).state === 'queued');
    await proxy.startWorker();
    await ended(asking(proxy.url), body.id);
    await proxy.close();
    removeDataDir(dir);
    expect(await resultOf(database)).toEqual(undisturbed);
  });
});
