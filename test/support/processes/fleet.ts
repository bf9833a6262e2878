import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { hashKey, newKey } from '../../../src/access/clients/key';
import { Scope } from '../../../src/operations/catalogue/scopes';
import { MAIN_ACCOUNT } from '../../../src/platform/config/upstream/upstream-accounts';
import { TestDatabase } from '../databases/test-database';
import { eventually } from '../payments/paying';
import { LOG_KEY } from '../records/log-key';
import { airtime, TestSandbox } from '../sandbox/sandbox';
import { removeDataDir } from './data-dir';
import { newDataDir, Product } from './process';

const READY = /payout-proxy is ready\s+(http\S+)/;

interface RunningProxy {
  product: Product;
  url: string;
}

/** Several proxies with one database and one upstream, each a separate process that can be killed. */
export class Fleet {
  private constructor(
    private readonly envOf: (index: number) => Record<string, string>,
    private readonly dir: string,
    private readonly running: RunningProxy[],
  ) {}

  /**
   * @param env in addition to the settings for a shared test database. Contains at least `UPSTREAM_BASE_URL`
   *   and `UPSTREAM_API_KEY`.
   * @param own the environment specific to each proxy.
   */
  static async start(
    count: number,
    database: Pick<TestDatabase, 'url' | 'ownerUrl'>,
    env: Record<string, string>,
    own: (index: number) => Record<string, string> = () => ({}),
  ): Promise<Fleet> {
    const dir = newDataDir();
    const shared = {
      DATABASE_URL: database.url,
      DATABASE_OWNER_URL: database.ownerUrl,
      CHECK_COVERAGE: 'false',
    };
    const all = {
      LOG_SIGNING_KEY: LOG_KEY,
      PORT: '0',
      LOG_LEVEL: 'silent',
      RESOLVER_EVERY_SECONDS: '0',
      WALLETS_EVERY_SECONDS: '0',
      DATABASE_RESERVE_MB: '0',
      DUAL_CONTROL: 'false', // one key administers the clients of a test
      REQUEST_DEADLINE_MS: '30000', // machines that run many tests are slow
      ...shared,
      ...env,
    };
    const envOf = (index: number) => ({ DATA_DIR: join(dir, String(index)), ...all, ...own(index) });
    const running = await Promise.all(
      Array.from({ length: count }, (_none, index) => run(envOf(index), dir)),
    );
    return new Fleet(envOf, dir, running);
  }

  /** Changes with a restart. */
  url(index: number): string {
    return this.at(index).url;
  }

  get urls(): string[] {
    return this.running.map(({ url }) => url);
  }

  /** Sends SIGKILL. Resolves once the process is gone. */
  async kill(index: number): Promise<void> {
    await this.at(index).product.signal('SIGKILL');
  }

  /** Sends a signal that does not end the process. */
  signal(index: number, name: 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2'): void {
    void this.at(index).product.signal(name);
  }

  /** The DATA_DIRs of all proxies. */
  get dataDirs(): string[] {
    return this.running.map((_each, index) => this.envOf(index).DATA_DIR ?? '');
  }

  /** Sends SIGTERM. Resolves once the process has exited. */
  async end(index: number): Promise<void> {
    await this.at(index).product.signal('SIGTERM');
  }

  /** Starts a killed process again. */
  async restart(index: number): Promise<void> {
    this.running[index] = await run(this.envOf(index), this.dir);
  }

  async stop(): Promise<void> {
    await Promise.all(this.running.map(({ product }) => product.signal('SIGKILL')));
    removeDataDir(this.dir);
  }

  private at(index: number): RunningProxy {
    const running = this.running[index];
    if (!running) throw new Error(`there is no proxy ${index}`);
    return running;
  }
}

async function run(env: Record<string, string>, dir: string): Promise<RunningProxy> {
  const product = new Product('main.js', [], env, dir);
  const [, url = ''] = await product.said(READY);
  return { product, url };
}

/** Limits of a client by their columns, such as `daily_cap_usd`. */
export type Limits = Partial<Record<'daily_cap_usd' | 'monthly_cap_usd' | 'person_daily_cap_usd', string>>;

/** Creates a client. Returns its ID and key. */
export async function createClient(
  database: Pick<TestDatabase, 'query'>,
  name: string,
  scopes: Scope[],
  limits: Limits & { account?: string | undefined } = {},
) {
  const id = uuidv7();
  const key = newKey(name);
  await database.query(
    `INSERT INTO client (id, name, scopes, daily_cap_usd, monthly_cap_usd, person_daily_cap_usd, account)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      id,
      name,
      scopes,
      limits.daily_cap_usd ?? null,
      limits.monthly_cap_usd ?? null,
      limits.person_daily_cap_usd ?? null,
      limits.account ?? MAIN_ACCOUNT,
    ],
  );
  await database.query('INSERT INTO api_key (id, client_id, sha256, hint) VALUES ($1, $2, $3, $4)', [
    uuidv7(),
    id,
    hashKey(key),
    key.slice(-4),
  ]);
  return { id, key };
}

/** A response with its original bytes. */
export interface AppResponse {
  status: number;
  headers: Headers;
  body: Buffer;
  json: Record<string, unknown>;
}

export interface AppRequest {
  key: string;
  body: object;
  operation?: string;
  idempotencyKey?: string | undefined;
  /** The person for whom the app acts (`X-Actor`). */
  actor?: string;
}

/** Sends a POST like an app. Each request may use a separate connection. */
export async function ask(
  url: string,
  { key, body, operation = '/payouts/airtime', idempotencyKey, actor }: AppRequest,
) {
  const response = await fetch(`${url}/api/v0.1${operation}`, {
    method: 'POST',
    headers: {
      'X-API-Key': key,
      'Content-Type': 'application/json',
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      ...(actor !== undefined && { 'X-Actor': actor }),
    },
    body: JSON.stringify(body),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const told: AppResponse = {
    status: response.status,
    headers: response.headers,
    body: bytes,
    json: JSON.parse(String(bytes)) as Record<string, unknown>,
  };
  return told;
}

/** Number of arrivals and executions of this airtime payment, identified by its recipient. */
export async function executionsOf(sandbox: TestSandbox, { body }: AppRequest) {
  const phone = JSON.stringify((body as ReturnType<typeof airtime>).airtimes[0]?.phoneNumber);
  const found = (await sandbox.requests()).filter((request) => JSON.stringify(request.body)?.includes(phone));
  return { asked: found.length, executed: found.filter(({ processed }) => processed).length };
}

/** Codes that ask an app to retry after Retry-After. Duplicates exceed the available slots. */
const AGAIN = ['request_in_progress', 'overloaded'];

/** Sends a request, and repeats it after Retry-After while the first one is in progress. */
export async function askUntilSettled(
  url: () => string,
  asking: AppRequest,
  onWait = () => {},
): Promise<AppResponse> {
  for (let tries = 0; tries < 30; tries += 1) {
    const told = await ask(url(), asking);
    if (!AGAIN.includes(String(told.json.code))) return told;
    onWait();
    await new Promise((resolve) => setTimeout(resolve, Number(told.headers.get('retry-after')) * 1_000));
  }
  throw new Error('the first request never finished');
}

/**
 * Holds this many transactions before they write their intents, or at a lock held by another of them. Then
 * releases them. They decide by the state read until then.
 */
export async function meetAtIntent<Result>(
  database: TestDatabase,
  count: number,
  asked: () => Promise<Result>,
) {
  await database.query('BEGIN; LOCK TABLE intent IN EXCLUSIVE MODE');
  const result = asked();
  // Not pg_stat_activity, which is frozen within a transaction. A wait for a row does not state its database.
  const waiting = `SELECT FROM pg_locks w WHERE NOT granted
    AND EXISTS (SELECT FROM pg_locks h JOIN pg_database d ON d.oid = h.database
    WHERE h.pid = w.pid AND d.datname = current_database())`;
  await eventually(async () => (await database.query(waiting)).length === count);
  await database.query('ROLLBACK');
  return result;
}
