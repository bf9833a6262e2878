import { INestApplicationContext } from '@nestjs/common';
import { loadConfig } from '../../src/platform/config/config';
import { Secret } from '../../src/platform/config/secret';
import { FollowUpService } from '../../src/reconciliation/following/follow-up.service';
import { createWorker } from '../../src/worker/worker';
import { createClient, Fleet } from '../support/fleet';
import { settingsOn } from '../support/proxy';
import { API_KEY, startSandbox, TestSandbox } from '../support/sandbox';
import { createTestDatabase, TestDatabase } from '../support/test-database';
import { OperationName } from './bodies';
import { Inconclusive } from './inconclusive';
import { Wave } from './schedule';
import type { BodyOf } from '../support/supertest';

/** What is read of an answer's body, whoever it is from. */
interface Said {
  id?: string;
  code?: string;
  call_id?: string;
  first_call_id?: string;
  status?: unknown;
  data?: { error?: unknown } | null;
  verdicts?: { call_id: string; verdict: string }[];
}

/** An answer that somebody got. */
export interface Told {
  status: number;
  headers: Headers;
  text: string;
  json: Said;
}

export interface Question {
  process: number;
  method?: 'GET' | 'POST' | 'DELETE';
  path: string;
  key: string;
  headers?: Record<string, string>;
  body?: object;
}

/** A stop that was certainly active between two moments. */
export interface KnownStop {
  id: string;
  clientId: string | null;
  operation: OperationName | null;
  from: number;
  until: number;
}

const ENVIRONMENT = {
  UPSTREAM_TIMEOUT_MS: '600',
  // Few and short, because hanging requests make others wait past their time.
  UPSTREAM_CONNECTIONS: '12',
  UPSTREAM_MAX_RESPONSE_BYTES: '1000000',
  DATABASE_POOL_SIZE: '5',
  // Longer than a wave can take on any machine, so that the guard never depends on the speed of this one.
  DUPLICATE_WINDOW_SECONDS: '3600',
  // It runs only when nothing is in progress any more, so what it does not find never appears.
  RESOLVER_QUIET_SECONDS: '1',
};

const START_TRIES = 5;

/** Two proxies in front of a sandbox, a worker, their operators, and a clock that only counts events. */
export class World {
  /** The stops requested in this wave, whether or not the answer arrived. */
  readonly stopsAsked: { clientId: string | null; operation: OperationName | null }[] = [];
  readonly stops: KnownStop[] = [];
  private moment = 0;
  private readonly up = [true, true];
  private restarting: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly database: TestDatabase,
    readonly sandbox: TestSandbox,
    readonly fleet: Fleet,
    private readonly worker: INestApplicationContext,
    readonly keys: { admin: string; auditor: string; reconciler: string; approvers: string[] },
  ) {}

  static async start(): Promise<World> {
    const database = await createTestDatabase();
    const sandbox = await startSandbox({}, database);
    const env = { UPSTREAM_BASE_URL: sandbox.url, UPSTREAM_API_KEY: API_KEY, ...ENVIRONMENT };
    const fleet = await started(() => Fleet.start(2, database, env));
    const { upstreamTimeoutMs, resolverQuietSeconds } = loadConfig(ENVIRONMENT);
    const upstream = { upstreamBaseUrl: sandbox.url, upstreamApiKey: new Secret(API_KEY) };
    const worker = await createWorker(settingsOn(database, { ...upstream, upstreamTimeoutMs, resolverQuietSeconds }));
    const admin = await createClient(database, 'admin', ['admin']);
    const auditor = await createClient(database, 'auditor', ['audit']);
    const reconciler = await createClient(database, 'reconciler', ['reconcile']);
    const approvers = [
      await createClient(database, 'approver-a', ['approve']),
      await createClient(database, 'approver-b', ['approve']),
    ];
    await watchCaps(database);
    const keys = { admin: admin.key, auditor: auditor.key, reconciler: reconciler.key };
    return new World(database, sandbox, fleet, worker, { ...keys, approvers: approvers.map(({ key }) => key) });
  }

  /** How many processes accept requests. */
  get running(): number {
    return this.up.filter(Boolean).length;
  }

  /** Returns the next moment. Of two moments, the smaller one was earlier. */
  now(): number {
    return ++this.moment;
  }

  /**
   * Asks a process, or the other one while it is down.
   * @returns undefined if no answer arrived.
   */
  async ask({ process, method = 'POST', path, key, headers = {}, body }: Question): Promise<Told | undefined> {
    if (!this.up.includes(true)) await this.restarting;
    const url = this.fleet.url(this.up[process] ? process : 1 - process);
    try {
      const response = await fetch(url + path, {
        method,
        headers: { 'X-API-Key': key, ...(body && { 'Content-Type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: parsed(text) };
    } catch {
      return undefined;
    }
  }

  /** Asks until an answer arrives. Use it only for requests that change nothing. */
  async read<const Path extends string>(path: Path, key: string): Promise<BodyOf<'get', Path>> {
    for (let process = 0; ; process = 1 - process) {
      const told = await this.ask({ process, method: 'GET', path, key });
      if (told?.status === 200) return told.json as BodyOf<'get', Path>;
      if (told) throw new Error(`GET ${path} was answered ${told.status} ${told.text}`);
    }
  }

  /** @param meanwhile runs before the process is back. */
  async killAndRestart(victim: number, meanwhile: () => Promise<void>): Promise<void> {
    if (!this.up[victim]) return;
    this.up[victim] = false;
    await this.fleet.kill(victim);
    const restarted = started(() => this.fleet.restart(victim)).then(() => (this.up[victim] = true));
    this.restarting = restarted;
    await Promise.all([restarted, meanwhile()]);
  }

  /** Resets the upstream as at a first start: enough money, and a ground truth of this wave only. */
  async reset({ magicMs, transferFault, listedAfterMs }: Wave): Promise<void> {
    this.stops.length = 0;
    this.stopsAsked.length = 0;
    await this.sandbox.control('post', '/reset').expect(204);
    await this.sandbox.control('patch', '/settings', { magicMs, listedAfterMs }).expect(200);
    for (const operation of ['POST /account/transfer', 'POST /wallets/transfer']) {
      await this.sandbox.fault({ ...transferFault, operation });
    }
  }

  /**
   * Follows payouts to what became of them after their answers.
   * @returns how many calls it settled.
   */
  async followUp(): Promise<number> {
    const { settled } = await this.worker.get(FollowUpService).runOnce();
    return settled;
  }

  async close(): Promise<void> {
    await this.fleet.stop();
    await this.worker.close();
    await this.sandbox.close();
    await this.database.close();
  }
}

/**
 * Starts something, and again if a busy machine made the start too slow.
 * @throws Inconclusive
 */
async function started<Result>(start: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (cause) {
      if (tries === START_TRIES) throw new Inconclusive('a proxy did not start', { cause });
    }
  }
}

/** Records every moment at which somebody has spent more than allowed, so that nobody needs to check just then. */
async function watchCaps(database: TestDatabase): Promise<void> {
  await database.query(`
    CREATE TABLE overspent (client_id uuid, day date, usd numeric);
    GRANT INSERT ON overspent TO payout_proxy;
    CREATE FUNCTION note_overspent() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO overspent SELECT NEW.client_id, NEW.day, NEW.usd FROM client
      WHERE id = NEW.client_id AND (NEW.usd > daily_cap_usd OR monthly_cap_usd < (
        SELECT sum(usd) FROM spending WHERE client_id = NEW.client_id
          AND date_trunc('month', day) = date_trunc('month', NEW.day)));
      RETURN NEW;
    END $$;
    CREATE TRIGGER note_overspent AFTER INSERT OR UPDATE ON spending FOR EACH ROW EXECUTE FUNCTION note_overspent();`);
}

function parsed(text: string): Said {
  try {
    return JSON.parse(text) as Said;
  } catch {
    return {};
  }
}
