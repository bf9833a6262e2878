import { randomUUID } from 'node:crypto';
import { INestApplicationContext } from '@nestjs/common';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { Scope } from '../../../src/operations/catalogue/scopes';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { reconcile } from '../../support/reconciliation/reconciliation-scene';
import { Account } from '../../support/simulator/account';
import { Simulator } from '../../support/simulator/server';
import { kindOf, newRecipient, requestOf } from './orders';

const TIMEOUT_MS = 600;
const HOUR_MS = 3_600_000;
const BYSTANDER_USD = 0.5;

/** The proxy's answer to a client. */
export interface Reply {
  status: number;
  callId: string | null;
  body: Record<string, unknown>;
}

/** Two instances with one database and one worker, in front of a simulated upstream with lying accounts. */
export class SimulatedWorld {
  readonly startedAt = new Date();
  private turn = 0;

  private constructor(
    readonly accounts: Account[],
    readonly database: TestDatabase,
    private readonly simulator: Simulator,
    private readonly proxies: TestProxy[],
    private readonly worker: INestApplicationContext,
    private readonly keys: { auditor: string; reconciler: string; bystanders: Map<string, string> },
  ) {}

  /** @param lies of whole accounts. Each gets an account of its own. */
  static async start(lies: readonly Account['lie'][]): Promise<SimulatedWorld> {
    const simulator = await Simulator.start(TIMEOUT_MS);
    const main = simulator.open('main');
    const accounts = lies.map((lie, nth) => simulator.open(`account-${nth}`, lie));
    const database = await createTestDatabase();
    const settings = {
      upstreamBaseUrl: simulator.url,
      upstreamApiKey: new Secret(main.key),
      namedAccounts: accounts.map(({ name, key }) => ({
        name,
        baseUrl: simulator.url,
        apiKey: new Secret(key),
        webhookSecret: undefined,
        subAccount: undefined,
        wallet: undefined,
        fees: new Map(),
      })),
      checkCoverage: false,
      duplicateGuard: true,
      followUpEverySeconds: 0,
      upstreamTimeoutMs: TIMEOUT_MS,
      resolverQuietSeconds: HOUR_MS / 1_000,
      resolverRejectedQuietSeconds: HOUR_MS / 1_000,
    };
    const proxies = [await startProxy(settings, database), await startProxy(settings, database)];
    const [proxy] = proxies as [TestProxy];
    const worker = await proxy.startWorker();
    const auditor = (await proxy.client('auditor', 'audit', 'audit:pii')).key;
    const reconciler = (await proxy.client('reconciler', 'reconcile')).key;
    const keys = { auditor, reconciler, bystanders: new Map<string, string>() };
    const world = new SimulatedWorld(accounts, database, simulator, proxies, worker, keys);
    for (const account of accounts) {
      const { key } = await world.client(account, `bystander-${account.name}`, 'pay');
      keys.bystanders.set(account.name, key);
    }
    await world.bystandersPay();
    return world;
  }

  async close(): Promise<void> {
    for (const proxy of this.proxies) await proxy.close();
    await this.simulator.stop();
    await this.database.close();
  }

  client(account: Account, name: string, ...scopes: Scope[]) {
    const clients = this.proxies[0]?.app.get(ClientsService, { strict: false }) as ClientsService;
    return clients.create(name, scopes, { account: account.name });
  }

  /** Sends a request to the instances in turn. */
  async post(path: string, body: object, headers: Record<string, string>): Promise<Reply> {
    const response = await fetch(`${this.nextUrl()}/api/v0.1${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return toReply(response);
  }

  async get(path: string, key = this.keys.auditor): Promise<Record<string, unknown>> {
    const { status, body } = await toReply(
      await fetch(this.nextUrl() + path, { headers: { 'X-API-Key': key } }),
    );
    if (status !== 200) throw new Error(`GET ${path} was answered ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Ends the quiet periods: the short one after the upstream's own refusals, or the full one too. */
  endQuiet(period: 'short' | 'full'): void {
    const { rules } = this.worker.get(PollService);
    rules.rejectedQuietMs = 0;
    if (period === 'full') rules.quietMs = 0;
  }

  /** Pays by other clients with every kind, which shows how current the lists are. */
  async bystandersPay(accounts = this.accounts): Promise<void> {
    await atMost(16, accounts, async (account) => {
      for (const nth of [0, 1, 2]) {
        const kind = kindOf(nth);
        const { path, body } = requestOf(kind, [{ recipient: newRecipient(kind), usd: BYSTANDER_USD }]);
        const key = this.keys.bystanders.get(account.name) ?? '';
        await this.post(path, body, { 'X-API-Key': key, 'Idempotency-Key': randomUUID() });
      }
    });
  }

  /** Runs a round of the resolver over all calls in doubt, and a poll of the follow-up for each account. */
  async round(accounts = this.accounts): Promise<void> {
    await this.worker.get(ResolverService).runOnce();
    const following = this.worker.get(FollowUpService);
    await atMost(4, accounts, (account) => following.runOnce(account.name).then(() => undefined));
  }

  async reconcile(): Promise<void> {
    const access = { url: this.nextUrl(), key: this.keys.reconciler };
    const period = { from: this.startedAt.toISOString(), to: new Date().toISOString() };
    await atMost(1, this.accounts, async (account) => {
      await reconcile(access, { ...period, account: account.name });
    });
  }

  private nextUrl(): string {
    this.turn += 1;
    return this.proxies[this.turn % this.proxies.length]?.url ?? '';
  }
}

async function toReply(response: Response): Promise<Reply> {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  return { status: response.status, callId: response.headers.get('x-call-id'), body };
}

/** Runs a function for every value, at most `count` at the same time. */
export async function atMost<Value>(
  count: number,
  values: Iterable<Value>,
  run: (value: Value) => Promise<void>,
): Promise<void> {
  const left = values[Symbol.iterator]();
  const lane = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: count }, lane));
}
