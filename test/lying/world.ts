import { randomUUID } from 'node:crypto';
import { INestApplicationContext } from '@nestjs/common';
import { Client } from 'pg';
import { Scope } from '../../src/operations/catalogue/scopes';
import { Secret } from '../../src/platform/config/secrets/secret';
import { FollowUpService } from '../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../src/reconciliation/in-doubt/rounds/poll.service';
import { ReadBackService } from '../../src/reconciliation/in-doubt/rounds/resolver.job';
import { ResolverService } from '../../src/reconciliation/in-doubt/rounds/resolver.service';
import { noLies } from '../../src/sandbox/behaviour/lies';
import { DEFAULT_CONTROL_KEY } from '../../src/sandbox/behaviour/settings';
import type { RunRecord } from '../support/http/api';
import { eventually } from '../support/payments/paying';
import { startProxyWithSandbox } from '../support/processes/proxy';
import { reconcile } from '../support/reconciliation/reconciliation-scene';
import { ControlBody } from '../support/sandbox/sandbox-answers';
import { bodyOf, PATHS } from './bodies';
import { Event, Fault, Kind, KINDS, MAPPED_WORD, MOST_FEE_PERCENT, Payment, EventStep } from './schedule';
import { EVENT_SECRET, sendEvent } from './signed-event';

/** Fields of the proxy's answer that clients read. */
export interface AppReply {
  status: number;
  callId: string | null;
  body: Record<string, unknown>;
}

/** A transaction of the upstream, with its true state. */
export type Transaction = ControlBody<'/transactions', 'get'>[number];
export type Arrival = ControlBody<'/requests', 'get'>[number];

const NO_DELAYS = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
const BYSTANDER_USD = 0.01;
const ACCOUNT = '00000000-0000-4000-8000-000000000001';

/** Options of a payout. `names` is sent as Allow-Duplicate-Of. */
interface PayOptions {
  key?: string;
  names?: string;
  signal?: AbortSignal;
}

/** A proxy and its worker in front of a lying sandbox. Tests control the time. */
export class LyingWorld {
  /** Fees charged later, in US dollars by transaction. No list of transactions shows them. */
  readonly hiddenFees = new Map<string, number>();
  /** Number of unexplained entries. */
  unexplained = 0;
  areEntriesFrozen = false;
  private people = 0;
  private lastSeq = 0;

  private constructor(
    readonly proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>,
    private readonly worker: INestApplicationContext,
    private readonly reconciler: string,
    private readonly bystander: string,
    private readonly sandboxData: Client,
  ) {}

  static async start(): Promise<LyingWorld> {
    const proxy = await startProxyWithSandbox({
      checkCoverage: false,
      duplicateGuard: true,
      duplicateWindowSeconds: 3_600,
      followUpEverySeconds: 0,
      upstreamFees: new Map(Object.values(PATHS).map((path) => [`POST ${path}`, `${MOST_FEE_PERCENT}%`])),
      upstreamStatusWords: [`${MAPPED_WORD}=paid`],
      upstreamTimeoutMs: 400,
      upstreamWebhookSecret: new Secret(EVENT_SECRET),
    });
    const worker = await proxy.startWorker();
    worker.get(PollService).rules.quietMs = 0;
    const reconciler = (await proxy.client('reconciler', 'reconcile')).key;
    const bystander = (await proxy.client('bystander', 'pay')).key;
    const sandboxData = new Client({ connectionString: proxy.database.sandboxUrl });
    await sandboxData.connect();
    const world = new LyingWorld(proxy, worker, reconciler, bystander, sandboxData);
    await world.bystandersPay();
    return world;
  }

  async close(): Promise<void> {
    await this.sandboxData.end();
    await this.proxy.close();
  }

  client(name: string, ...scopes: Scope[]) {
    return this.proxy.client(name, ...scopes);
  }

  /** Returns the first of `count` new numbers of people. */
  newPeople(count: number): number {
    this.people += count;
    return this.people - count;
  }

  async pay(key: string, kind: Kind, items: Payment[], more: PayOptions) {
    const response = await fetch(`${this.proxy.url}/api/v0.1${PATHS[kind]}`, {
      method: 'POST',
      headers: {
        'X-API-Key': key,
        'Content-Type': 'application/json',
        ...(more.key !== undefined && { 'Idempotency-Key': more.key }),
        ...(more.names !== undefined && { 'Allow-Duplicate-Of': more.names }),
      },
      body: JSON.stringify(bodyOf(kind, items)),
      ...(more.signal && { signal: more.signal }),
    });
    return toReply(response);
  }

  async get(key: string, path: string): Promise<AppReply> {
    return toReply(await fetch(this.proxy.url + path, { headers: { 'X-API-Key': key } }));
  }

  /**
   * Requests faults of the next payouts. Without an argument, ends all faults.
   * @param kind the payouts without an answer. A list without an answer has a much longer timeout.
   */
  async faults(faults: Fault[], kind?: Kind): Promise<void> {
    await this.control('DELETE', '/faults');
    for (const fault of faults) {
      const isOfKind = kind !== undefined && fault.fault === 'noResponse';
      const operation = isOfKind && { operation: `POST ${PATHS[kind]}` };
      await this.control('POST', '/faults', { nth: 1, ...fault, ...operation });
    }
  }

  /** Returns the payouts of clients that arrived since the last call, once none is delayed. */
  async newArrivals(): Promise<Arrival[]> {
    let all: Arrival[] = [];
    await eventually(async () => {
      all = (await this.control('GET', `/requests?after=${this.lastSeq}`)) as Arrival[];
      return all.every(({ fault, answeredAt }) => fault !== 'delay' || answeredAt !== null);
    });
    return all.filter(({ operation, body }) => operation.includes('/payouts/') && !isOfBystander(body));
  }

  attributed(arrivals: Arrival[]): void {
    this.lastSeq = arrivals.at(-1)?.seq ?? this.lastSeq;
  }

  /** Waits until no request of a client is in progress. */
  async idle(clientId: string): Promise<void> {
    const open = `SELECT FROM intent i
      WHERE client_id = $1 AND NOT EXISTS (SELECT FROM outcome WHERE intent_id = i.id)`;
    await eventually(async () => (await this.proxy.database.query(open, [clientId])).length === 0);
  }

  async transactions(): Promise<Map<string, Transaction>> {
    const all = (await this.control('GET', '/transactions')) as Transaction[];
    return new Map(all.map((transaction) => [transaction.chiRef, transaction]));
  }

  /** Runs an event of the upstream or the proxy. */
  async happen(event: Exclude<Event, { do: 'reconcile' }>): Promise<void> {
    switch (event.do) {
      case 'lie':
        this.areEntriesFrozen ||= JSON.stringify(event.settings).includes('"entries":{"frozenAt"');
        return this.settings(event.settings);
      case 'lies end':
        this.areEntriesFrozen = false;
        return this.settings({ ...noLies(), listedAfterMs: NO_DELAYS });
      case 'changes happen':
        return this.changesHappen();
      case 'time passes':
        return this.bystandersPay();
      case 'resolve':
        return void (await this.worker.get(ResolverService).runOnce());
      case 'follow':
        return void (await this.worker.get(FollowUpService).runOnce());
      case 'top-up':
        return this.entry({ type: 'top-up', account: ACCOUNT, wallet: event.wallet, valueInUSD: 5 });
      case 'fee':
        return this.hiddenFee(event.nth);
      case 'withdrawal': {
        this.unexplained += 1;
        const { wallet, usd } = event;
        return this.entry({ type: 'withdrawal', account: ACCOUNT, wallet, valueInUSD: usd });
      }
      case 'event':
        return this.sendEvent(event);
    }
  }

  async settings(settings: object): Promise<void> {
    await this.control('PATCH', '/settings', settings);
  }

  async reconcile(from: Date): Promise<RunRecord> {
    const period = { from: from.toISOString(), to: new Date().toISOString() };
    return reconcile({ url: this.proxy.url, key: this.reconciler }, period);
  }

  /** Pays by other clients, which shows how current a list is. */
  private async bystandersPay(): Promise<void> {
    for (const kind of KINDS) {
      const items = [{ who: this.newPeople(1), usd: BYSTANDER_USD }];
      await this.pay(this.bystander, kind, items, { key: randomUUID() });
    }
  }

  private async changesHappen(): Promise<void> {
    await this.sandboxData.query("UPDATE due_changes SET due_at = now() - interval '1 second'");
    const dueChanges = () => this.sandboxData.query('SELECT FROM due_changes LIMIT 1');
    await eventually(async () => (await dueChanges()).rowCount === 0);
  }

  /** Sends an event. It is only a hint, so the proxy reads immediately. */
  private async sendEvent(event: EventStep): Promise<void> {
    const all = [...(await this.transactions()).values()];
    const transaction = all[event.nth % all.length];
    if (!transaction) return;
    await sendEvent(this.proxy.url, transaction, event);
    await this.worker.get(ReadBackService).run(new AbortController().signal, () => undefined);
  }

  private async hiddenFee(nth: number): Promise<void> {
    const all = [...(await this.transactions()).values()].filter(({ truth }) => truth.money !== 'kept');
    const chiRef = all[nth % all.length]?.chiRef ?? '';
    await this.entry({ type: 'fee', chiRef, valueInUSD: 0.1 });
    this.unexplained += 1;
    this.hiddenFees.set(chiRef, (this.hiddenFees.get(chiRef) ?? 0) + 0.1);
  }

  private async entry(entry: object): Promise<void> {
    await this.control('POST', '/entries', entry);
  }

  private async control(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.proxy.sandbox.url}/_sandbox${path}`, {
      method,
      headers: { 'X-Sandbox-Control-Key': DEFAULT_CONTROL_KEY, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new Error(`${method} ${path} was answered ${response.status} ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  }
}

function isOfBystander(body: unknown): boolean {
  return JSON.stringify(body).includes(`:${BYSTANDER_USD}`);
}

async function toReply(response: Response): Promise<AppReply> {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  return { status: response.status, callId: response.headers.get('x-call-id'), body };
}
