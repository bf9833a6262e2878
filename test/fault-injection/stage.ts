import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newSigningKey } from '../../src/history/log/note';
import { eventually } from '../support/payments/paying';
import { removeDataDir } from '../support/processes/data-dir';
import { createClient, Fleet } from '../support/processes/fleet';
import { newDataDir, Product } from '../support/processes/process';
import { rowIn } from './comparison';
import { Database } from './databases';
import { App, insist, isDone } from './orders';
import { orderOf } from './payments';
import { Upstream, UPSTREAM_KEY } from './upstream';

const MAIN = join(__dirname, '..', '..', 'dist', 'cli', 'main.js');

/** Environment of proxies and workers. Durations are short, so that doubts are settled in time. */
const ENVIRONMENT = {
  REQUEST_DEADLINE_MS: '2000', // the product's default, which tests on busy machines change
  UPSTREAM_BASE_URL: '',
  UPSTREAM_API_KEY: UPSTREAM_KEY,
  UPSTREAM_TIMEOUT_MS: '4000',
  UPSTREAM_MAX_RESPONSE_BYTES: '67108864', // for the list of all transactions
  RESOLVER_EVERY_SECONDS: '2',
  RESOLVER_QUIET_SECONDS: '8',
  RESOLVER_REJECTED_QUIET_SECONDS: '8',
  DATABASE_ALLOW_UNSAFE: '', // the servers are as safe as in production
};

const SCOPES = ['pay', 'write', 'read', 'account'] as const;

/** A call with an unknown outcome. */
export interface Doubt {
  id: string;
  operation: string;
  state: string;
  /** Reason why its answer is inconclusive. Null without an answer. */
  failure: string | null;
}

const START_TRIES = 5;

/** Number of the first payment, outside of the range of other orders. */
const FIRST_NUMBER = 79_000_000;
const HISTORY_WITHIN_MS = 30_000;

/** Above the duration of a call in progress. */
const IN_PROGRESS_MS = 6_000;

/**
 * Time without a change after which the wait for the calls in doubt ends. Above the worker's longest pause
 * after a failure of the upstream.
 */
const UNCHANGED_MS = 75_000;

export interface StageOptions {
  database: Database;
  proxies?: number;
  /** Additions to the common environment. */
  env?: Record<string, string>;
}

/** Proxies, a worker, a database and a sandbox, all separate processes. */
export class Stage {
  readonly apps: App[] = [];
  private turns = 0;

  private constructor(
    readonly database: Database,
    readonly upstream: Upstream,
    readonly fleet: Fleet,
    private readonly proxies: number,
    private readonly folder: string,
    private readonly env: Record<string, string>,
    private worker: Product,
  ) {}

  static async start(
    { database, proxies = 1, env = {} }: StageOptions,
    onEnd: (end: () => Promise<void>) => void,
  ) {
    onEnd(() => database.close());
    const upstream = await Upstream.start();
    onEnd(() => upstream.stop());
    const folder = newDataDir();
    onEnd(() => Promise.resolve(removeDataDir(folder)));
    const all = {
      ...ENVIRONMENT,
      UPSTREAM_BASE_URL: upstream.url,
      LOG_SIGNING_KEY: newSigningKey('trust'),
      DATABASE_URL: database.url,
      DATABASE_OWNER_URL: database.ownerUrl,
      ...env,
    };
    const fleet = await supervised(() => Fleet.start(proxies, database, all));
    onEnd(() => fleet.stop());
    const worker = await supervised(() => runWorker(all, folder));
    const stage = new Stage(database, upstream, fleet, proxies, folder, all, worker);
    onEnd(() => stage.killWorker());
    await stage.beginHistory();
    return stage;
  }

  /** Creates an app with a key. The audit compares its spending, and that of its persons, with their caps. */
  async app(name: string, caps: Partial<Pick<App, 'capUsd' | 'personCapUsd'>> = {}): Promise<App> {
    const { capUsd = null, personCapUsd = null } = caps;
    const limits = {
      ...(capUsd !== null && { daily_cap_usd: String(capUsd), monthly_cap_usd: String(capUsd) }),
      ...(personCapUsd !== null && { person_daily_cap_usd: String(personCapUsd) }),
    };
    const app = {
      ...(await createClient(this.database, name, [...SCOPES], limits)),
      name,
      capUsd,
      personCapUsd,
    };
    this.apps.push(app);
    return app;
  }

  /** Returns the address of each proxy in turn. */
  readonly nextUrl = (): string => this.fleet.url((this.turns += 1) % this.proxies);

  async killWorker(): Promise<void> {
    await this.worker.signal('SIGKILL');
  }

  async restartWorker(): Promise<void> {
    this.worker = await supervised(() => runWorker(this.env, this.folder));
  }

  async restartProxy(index: number): Promise<void> {
    await supervised(() => this.fleet.restart(index));
  }

  /** Waits until all proxies are ready. */
  async ready(): Promise<void> {
    await eventually(async () => {
      const answers = await Promise.all(
        this.fleet.urls.map((url) => fetch(`${url}/readyz`).catch(() => undefined)),
      );
      return answers.every((answer) => answer?.status === 200);
    });
  }

  /** Waits until the worker has settled the calls in the upstream's list. Resolves to the remaining ones. */
  async settle(): Promise<Doubt[]> {
    await sleep(IN_PROGRESS_MS);
    let last = { doubts: await this.doubts(), at: performance.now() };
    while (last.doubts.some(isListed) && performance.now() - last.at < UNCHANGED_MS) {
      await sleep(500);
      const doubts = await this.doubts();
      if (doubts.length < last.doubts.length) last = { doubts, at: performance.now() };
    }
    return last.doubts;
  }

  /** Runs an operators' command. Resolves to its exit code and output. */
  run(...args: string[]): Promise<{ code: number | null; output: string }> {
    const env = { PATH: process.env.PATH, ...this.env, DATA_DIR: this.fleet.dataDirs[0] };
    const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
  }

  /**
   * Pays once. An old account has earlier entries, and a list without them may be truncated, so it never
   * proves that a call was not executed.
   */
  private async beginHistory(): Promise<void> {
    const order = orderOf(await this.app('before'), FIRST_NUMBER);
    await insist(this.nextUrl, order, HISTORY_WITHIN_MS);
    if (!isDone(order)) throw new Error(`the first payment got ${JSON.stringify(order.attempts)}`);
  }

  private async doubts(): Promise<Doubt[]> {
    const doubts = await this.database.query<Doubt>(
      `SELECT call_id AS id, operation, state, answer ->> 'failure' AS failure FROM call_state
       WHERE state IN ('in_progress', 'unknown') AND released_at < now() - make_interval(secs => $1)`,
      [IN_PROGRESS_MS / 1_000],
    );
    return doubts.filter(({ operation }) => rowIn(operation).effect !== 'read');
  }
}

/**
 * Returns whether the upstream's list proves the outcome of a call. A person settles the others: no list
 * shows a sub-account, and a credit may have been redeemed by its recipient.
 */
export function isListed({ operation }: Pick<Doubt, 'operation'>): boolean {
  const row = rowIn(operation);
  if (row.effect === 'read' || row.transactions === 'none') return false;
  return !('changes' in row.transactions && row.transactions.changes === 'redeemed');
}

/** Starts a process like a supervisor: retries a failed start, for example on a busy machine. */
async function supervised<Started>(start: () => Promise<Started>): Promise<Started> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (tries === START_TRIES) throw error;
    }
  }
}

async function runWorker(env: Record<string, string>, folder: string): Promise<Product> {
  const own = {
    DATA_DIR: join(folder, 'worker'),
    WORKER_PORT: '0',
    CHECK_COVERAGE: 'false',
    WALLETS_EVERY_SECONDS: '0',
  };
  const worker = new Product('worker/main.js', [], { ...env, ...own, LOG_LEVEL: 'info' }, folder);
  await worker.said(/worker is ready/);
  return worker;
}
