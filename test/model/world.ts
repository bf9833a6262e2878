import { INestApplicationContext } from '@nestjs/common';
import { loadConfig } from '../../src/platform/config/config';
import { Secret } from '../../src/platform/config/secrets/secret';
import { FollowUpService } from '../../src/reconciliation/following/follow-up.service';
import { createWorker } from '../../src/worker/worker';
import { TestDatabase } from '../support/databases/test-database';
import type { BodyOf } from '../support/http/supertest';
import { createClient } from '../support/processes/fleet';
import { settingsOn } from '../support/processes/proxy';
import { API_KEY, startSandbox, TestSandbox } from '../support/sandbox/sandbox';
import { OperationName } from './bodies';
import { within } from './checks/inconclusive';
import { isFencing } from './disaster';
import { DatabaseLoss } from './loss';
import { OldDatabase } from './old-database';
import { ENVIRONMENT, Proxies } from './proxies';
import { Wave } from './schedule';

/** Fields read from any answer's body. */
interface ProxyResponseBody {
  id?: string;
  code?: string;
  call_id?: string;
  first_call_id?: string;
  status?: unknown;
  data?: { error?: unknown } | null;
  verdicts?: { call_id: string; verdict: string }[];
}

/** A received answer. */
export interface ProxyResponse {
  status: number;
  headers: Headers;
  text: string;
  json: ProxyResponseBody;
  /** The proxy that answered. */
  by: number;
}

/** A request to a process. */
export interface ApiRequest {
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

/** Two proxies in front of a sandbox, a worker, their operators, and a clock that counts events. */
export class World {
  /** Stops requested in this wave, with or without an answer. */
  readonly requestedStops: { clientId: string | null; operation: OperationName | null }[] = [];
  readonly stops: KnownStop[] = [];
  /** The proxy fenced by its clock in this wave. */
  fenced: number | undefined;
  /** Whether an old database may fence a proxy in this wave. */
  mayFence = false;
  /** Losses of the database in this wave. */
  lost: DatabaseLoss | undefined;
  private moment = 0;
  private constructor(
    readonly database: OldDatabase,
    readonly sandbox: TestSandbox,
    readonly proxies: Proxies,
    readonly worker: INestApplicationContext,
    readonly keys: { admin: string; auditor: string; reconciler: string; approvers: string[] },
  ) {}

  static async start(): Promise<World> {
    const database = await OldDatabase.create();
    const sandbox = await startSandbox({}, database);
    const proxies = await Proxies.start(database, sandbox.url);
    const { upstreamTimeoutMs, resolverQuietSeconds } = loadConfig(ENVIRONMENT);
    const upstream = { upstreamBaseUrl: sandbox.url, upstreamApiKey: new Secret(API_KEY) };
    const worker = await createWorker(
      settingsOn(database, { ...upstream, upstreamTimeoutMs, resolverQuietSeconds }),
    );
    const admin = await createClient(database, 'admin', ['admin']);
    const auditor = await createClient(database, 'auditor', ['audit']);
    const reconciler = await createClient(database, 'reconciler', ['reconcile']);
    const approvers = [
      await createClient(database, 'approver-a', ['approve']),
      await createClient(database, 'approver-b', ['approve']),
    ];
    await watchCaps(database);
    const keys = { admin: admin.key, auditor: auditor.key, reconciler: reconciler.key };
    return new World(database, sandbox, proxies, worker, {
      ...keys,
      approvers: approvers.map(({ key }) => key),
    });
  }

  /** Returns the next moment. A smaller moment is earlier. */
  now(): number {
    return ++this.moment;
  }

  /**
   * Sends a request to a process, or to the other one while it is down.
   * @returns undefined if no answer arrived.
   */
  async ask({
    process,
    method = 'POST',
    path,
    key,
    headers = {},
    body,
  }: ApiRequest): Promise<ProxyResponse | undefined> {
    const { by, url } = await this.proxies.servedBy(process);
    try {
      const response = await fetch(url + path, {
        method,
        headers: { 'X-API-Key': key, ...(body && { 'Content-Type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: parsed(text), by };
    } catch {
      return undefined;
    }
  }

  /**
   * Repeats a request until an answer arrives. Use it only for reads. A frozen proxy may hold a lock of the
   * search index until the database ends its transaction.
   */
  async read<const Path extends string>(path: Path, key: string): Promise<BodyOf<'get', Path>> {
    let response: ProxyResponse | undefined;
    let process = 0;
    await within(`GET ${path} is not answered`, async () => {
      response = await this.ask({ process, method: 'GET', path, key });
      process = 1 - process;
      return response !== undefined && response.json.code !== 'database_unavailable';
    });
    if (response?.status !== 200)
      throw new Error(`GET ${path} was answered ${response?.status} ${response?.text}`);
    return response.json as BodyOf<'get', Path>;
  }

  /** Resets the upstream to its initial state: enough money, and a ground truth of this wave only. */
  async reset({ magicMs, transferFault, listedAfterMs, clocks, disaster }: Wave): Promise<void> {
    this.stops.length = 0;
    this.requestedStops.length = 0;
    this.lost = undefined;
    this.mayFence = disaster.kind === 'loss';
    await this.setClocks(clocks.atFirst);
    await this.sandbox.control('post', '/reset').expect(204);
    await this.sandbox.control('patch', '/settings', { magicMs, listedAfterMs }).expect(200);
    for (const operation of ['POST /account/transfer', 'POST /wallets/transfer']) {
      await this.sandbox.fault({ ...transferFault, operation });
    }
  }

  /** Sets both clocks, and waits until the proxies have noticed. */
  private async setClocks(atFirst: number[]): Promise<void> {
    await Promise.all(atFirst.map((aheadMs, index) => this.proxies.setClock(index, aheadMs)));
    const fenced = atFirst.findIndex(isFencing);
    this.fenced = fenced === -1 ? undefined : fenced;
    for (const index of atFirst.keys()) {
      const expected = index === this.fenced ? 503 : 200;
      const ready = async () =>
        (await fetch(`${(await this.proxies.servedBy(index)).url}/readyz`)).status === expected;
      await within('a proxy does not notice its clock', ready);
    }
  }

  /**
   * Follows payouts after their answers.
   * @returns the number of settled calls.
   */
  async followUp(): Promise<number> {
    const { settled } = await this.worker.get(FollowUpService).runOnce();
    return settled;
  }

  async close(): Promise<void> {
    await this.proxies.stop();
    await this.worker.close();
    await this.sandbox.close();
    await this.database.close();
  }
}

/** Records every moment of overspending, so that no check must coincide with it. */
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
    CREATE TRIGGER note_overspent AFTER INSERT OR UPDATE ON spending
      FOR EACH ROW EXECUTE FUNCTION note_overspent();`);
}

function parsed(text: string): ProxyResponseBody {
  try {
    return JSON.parse(text) as ProxyResponseBody;
  } catch {
    return {};
  }
}
