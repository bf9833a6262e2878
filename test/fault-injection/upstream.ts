import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/platform/database/embedded/embedded-postgres';
import { findPort } from '../../src/platform/database/embedded/server';
import { migrate, SANDBOX_MIGRATIONS } from '../../src/platform/database/migrations/migrations';
import { removeDataDir } from '../support/processes/data-dir';
import { Product } from '../support/processes/process';

/** The keys of the sandbox, and its demo account. */
export const UPSTREAM_KEY = 'trust-upstream-key';
const CONTROL_KEY = 'trust-control-key';
const DEMO = '00000000-0000-4000-8000-000000000001';
/** One of its sub-accounts. */
export const SUB_ACCOUNT = '00000000-0000-4000-8000-000000000002';

/** A request in the sandbox's records. */
export interface Arrival {
  operation: string;
  query: string;
  body: unknown;
  fault: string | null;
  processed: boolean;
  chiRefs: string[];
  answeredAt: string | null;
  httpStatus: number | null;
}

/** Settings of its server, which is never killed. Durability would make it the bottleneck. */
const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** Initial balance of each wallet. Above the payments of any scenario. */
const MONEY_USD = 100_000_000;

const PAGE = 20_000;

/** The sandbox as a killable process with its own Postgres, like the service of another company. */
export class Upstream {
  private constructor(
    private readonly dataDir: string,
    private readonly postgres: EmbeddedPostgres,
    private readonly port: number,
    private sandbox: Product,
  ) {}

  static async start(): Promise<Upstream> {
    const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-trust-upstream-'));
    chmodSync(dataDir, 0o755);
    const postgres = await startEmbeddedPostgres(dataDir, { settings: FAST });
    await migrate(postgres.urls.sandbox, SANDBOX_MIGRATIONS);
    const port = await findPort(0);
    const upstream = new Upstream(dataDir, postgres, port, await run(postgres, port, dataDir));
    for (const wallet of ['chi', 'momo', 'airtime']) {
      await upstream.control('POST', '/entries', {
        type: 'top-up',
        account: DEMO,
        wallet,
        valueInUSD: MONEY_USD,
      });
    }
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async kill(): Promise<void> {
    await this.sandbox.signal('SIGKILL');
  }

  async restart(): Promise<void> {
    this.sandbox = await run(this.postgres, this.port, this.dataDir);
  }

  /** Sends a request to the control interface. */
  async control<Body>(method: string, path: string, body?: object): Promise<Body> {
    const response = await fetch(`${this.url}/_sandbox${path}`, {
      method,
      headers: { 'X-Sandbox-Control-Key': CONTROL_KEY, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`the sandbox answered ${method} ${path} with ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  }

  /** Returns all arrivals, in order. */
  async arrivals(): Promise<Arrival[]> {
    const all: (Arrival & { seq: number })[] = [];
    for (;;) {
      const after = all.at(-1)?.seq ?? 0;
      const page = await this.control<typeof all>('GET', `/requests?after=${after}&limit=${PAGE}`);
      all.push(...page);
      if (page.length < PAGE) return all;
    }
  }

  async stop(): Promise<void> {
    await this.sandbox.signal('SIGKILL');
    await this.postgres.stop();
    removeDataDir(this.dataDir);
  }
}

async function run({ urls }: EmbeddedPostgres, port: number, folder: string): Promise<Product> {
  const env = {
    SANDBOX_DATABASE_URL: urls.sandbox,
    SANDBOX_PORT: String(port),
    SANDBOX_API_KEY: UPSTREAM_KEY,
    SANDBOX_CONTROL_KEY: CONTROL_KEY,
  };
  const sandbox = new Product('sandbox/main.js', [], env, folder);
  await sandbox.said(/sandbox listens on/);
  return sandbox;
}
