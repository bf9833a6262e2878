import { INestApplicationContext } from '@nestjs/common';
import { quietPeriodsOf } from '../../src/operations/lifecycle/rejections';
import { loadConfig } from '../../src/platform/config/config';
import { Secret } from '../../src/platform/config/secrets/secret';
import { MAIN_ACCOUNT } from '../../src/platform/config/upstream/upstream-accounts';
import { FollowUpService } from '../../src/reconciliation/following/follow-up.service';
import { Rules } from '../../src/reconciliation/in-doubt/calls-in-doubt';
import { PollService } from '../../src/reconciliation/in-doubt/rounds/poll.service';
import { createWorker } from '../../src/worker/worker';
import type { BodyOf } from '../support/http/supertest';
import { createClient } from '../support/processes/fleet';
import { settingsOn } from '../support/processes/proxy';
import { API_KEY } from '../support/sandbox/sandbox';
import { OperationName } from './bodies';
import { Bystander, bystandersPay, createBystanders } from './bystander';
import { within } from './checks/inconclusive';
import { isFencing } from './disaster';
import { DatabaseLoss } from './loss';
import { OldDatabase } from './old-database';
import { watchCaps } from './overspent';
import { ENVIRONMENT, Proxies } from './proxies';
import { Wave } from './schedule';
import { SIMULATED_ACCOUNTS, Upstream } from './upstream';

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
  /** Every transaction with this ID or a larger one began after its commit. */
  since: bigint;
  /** The database's time before its lift. Null before that. */
  liftedAt: Date | null;
}

/** Two proxies in front of a sandbox, a worker, their operators, and a clock that counts events. */
export class World {
  /** Stops requested in this wave, with or without an answer. */
  readonly requestedStops: { clientId: string | null; operation: OperationName | null }[] = [];
  readonly stops: KnownStop[] = [];
  /** Number of waves of this world. */
  waves = 0;
  /** The proxy fenced by its clock in this wave. */
  fenced: number | undefined;
  /** Whether an old database may fence a proxy in this wave. */
  mayFence = false;
  /** Numbers of the process that the database lost sight of in this wave, while it was frozen. */
  outOfSight: number[] = [];
  /** Losses of the database in this wave. */
  lost: DatabaseLoss | undefined;
  private moment = 0;
  private constructor(
    readonly database: OldDatabase,
    readonly upstream: Upstream,
    readonly proxies: Proxies,
    readonly worker: INestApplicationContext,
    readonly keys: {
      admin: string;
      auditor: string;
      reconciler: string;
      approvers: string[];
      bystanders: Bystander[];
    },
  ) {}

  static async start(): Promise<World> {
    const database = await OldDatabase.create();
    const upstream = await Upstream.start(database);
    const proxies = await Proxies.start(database, upstream.environment);
    const config = loadConfig(upstream.environment);
    const worker = await createWorker(
      settingsOn(database, {
        upstreamBaseUrl: upstream.sandbox.url,
        upstreamApiKey: new Secret(API_KEY),
        namedAccounts: config.namedAccounts,
        upstreamTimeoutMs: config.upstreamTimeoutMs,
        resolverQuietSeconds: config.resolverQuietSeconds,
        resolverRejectedQuietSeconds: config.resolverRejectedQuietSeconds,
      }),
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
    const world = new World(database, upstream, proxies, worker, {
      ...keys,
      approvers: approvers.map(({ key }) => key),
      bystanders: await createBystanders(database),
    });
    await bystandersPay(world); // a list that begins with the first call of a schedule may be cut off
    return world;
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

  async begin(wave: Wave): Promise<void> {
    this.waves += 1;
    this.stops.length = 0;
    this.requestedStops.length = 0;
    this.lost = undefined;
    this.mayFence = wave.disaster.kind === 'loss';
    this.outOfSight = [];
    await this.setClocks(wave.clocks.atFirst);
    await this.upstream.begin(wave);
    Object.assign(this.rules, quietPeriodsOf(loadConfig(ENVIRONMENT)));
  }

  private get rules(): Rules {
    return this.worker.get(PollService).rules;
  }

  /** Ends the quiet periods of all calls. Call it only after the upstream has ended its work. */
  async endQuiet(): Promise<void> {
    await this.upstream.endQuiet();
    Object.assign(this.rules, { quietMs: 0, rejectedQuietMs: 0 });
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
    const following = this.worker.get(FollowUpService);
    const polls = [MAIN_ACCOUNT, ...SIMULATED_ACCOUNTS].map((account) => following.runOnce(account));
    return (await Promise.all(polls)).reduce((sum, { settled }) => sum + settled, 0);
  }

  async close(): Promise<void> {
    await this.proxies.stop();
    await this.worker.close();
    await this.upstream.close();
    await this.database.close();
  }
}

function parsed(text: string): ProxyResponseBody {
  try {
    return JSON.parse(text) as ProxyResponseBody;
  } catch {
    return {};
  }
}
