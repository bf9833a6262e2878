import { INestApplicationContext } from '@nestjs/common';
import { RunningConfig } from '../../../src/platform/config/config';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { answer, Behaviour } from '../network/fake-upstream';
import { PaymentScene, PHONE, startPaying } from '../payments/paying';

/** What the upstream does with the next payouts, and what it says. */
export interface Lie {
  status: number;
  body: object | string;
  /** `queued` pays when the queue is worked off. */
  pays: 'now' | 'queued' | 'never';
}

/** A transaction of the upstream, as answers and the listing show it. */
export interface Transaction {
  chiRef: string;
  id: string | undefined;
  issueID: string;
  issueDate: string;
  type: string;
  status: string;
  phoneNumber: string;
  valueInUSD: number;
  reference?: string;
}

/** Answers success, and names these transactions. */
export const answersWith = (...data: Transaction[]): Behaviour =>
  answer(200, { status: 'success', data: { data, error: 'None' } });

/** Amount of a payout. */
const USD = 2.5;

const HOUR_MS = 3_600_000;

/** A proxy in front of an upstream with a ledger of its own, whose answers may contradict the ledger. */
export class LyingLedger {
  /** What it lists. */
  transactions: Transaction[] = [];
  /** Undefined tells the truth. */
  lie: Lie | undefined;
  /** Reaction to payouts, none of which it makes then. Undefined makes them. */
  behaviour: Behaviour | undefined;
  /** Key of the app that pays. Undefined is the key of the scene. */
  key: string | undefined;
  private readonly queue: Transaction[] = [];
  private number = 0;

  private constructor(
    readonly paying: PaymentScene,
    readonly worker: INestApplicationContext,
  ) {
    const { upstream } = paying;
    // It lists what was made before this proxy, so the listing reaches back.
    const issueDate = new Date(Date.now() - HOUR_MS).toISOString();
    this.transactions.push(this.shown({ phoneNumber: '+254700999999', issueDate }));
    upstream.behaviour = (request, response, socket) => {
      const [path = ''] = request.url.split('?');
      const reply = (data: unknown) => answer(200, { status: 'success', data })(request, response, socket);
      if (path.endsWith('/account/transactions')) return reply(this.transactions);
      if (path.endsWith('/account/transaction')) {
        const id = new URLSearchParams(request.url.split('?')[1]).get('id');
        return reply(this.transactions.find((one) => one.id === id));
      }
      if (path.endsWith('/wallets/list')) return reply([]);
      if (this.behaviour) return this.behaviour(request, response, socket);
      const made = this.make(request.body);
      const { lie } = this;
      if (lie?.pays === 'queued') this.queue.push(...made);
      else if (lie?.pays !== 'never') this.transactions.push(...made);
      if (lie) return answer(lie.status, lie.body)(request, response, socket);
      return reply({ data: made, error: 'None' });
    };
  }

  static async start(settings: Partial<RunningConfig> = {}): Promise<LyingLedger> {
    const paying = await startPaying({ resolverQuietSeconds: 3_600, duplicateGuard: true, ...settings });
    const ledger = new LyingLedger(paying, await paying.proxy.startWorker());
    ledger.quiet({ rejectedQuietMs: 0 });
    return ledger;
  }

  /** Sets the quiet periods of the resolver. */
  quiet(periods: { quietMs?: number; rejectedQuietMs?: number }): void {
    Object.assign(this.worker.get(PollService).rules, periods);
  }

  /** Works the queue off: pays what waits in it, or lists it as failed. */
  workOff(status = 'paid'): void {
    this.transactions.push(...this.queue.splice(0).map((one) => ({ ...one, status })));
  }

  /** Changes the status of the payouts to a recipient, in order. */
  change(phone: string, statuses: string[]): void {
    const payouts = this.transactions.filter(({ phoneNumber }) => phoneNumber === phone);
    for (const [index, status] of statuses.entries()) Object.assign(payouts[index] ?? {}, { status });
  }

  /** Amounts that the upstream has paid to a recipient, in order. */
  paidTo(phone: string): number[] {
    return this.transactions
      .filter(({ phoneNumber }) => phoneNumber === phone)
      .map(({ valueInUSD }) => valueInUSD);
  }

  /** Judges the calls in doubt now. */
  async round(): Promise<void> {
    await this.worker.get(ResolverService).runOnce();
  }

  /** Follows up payouts now. */
  async followUp(): Promise<void> {
    await this.worker.get(FollowUpService).runOnce();
  }

  /**
   * Pays airtime, with this reaction of the upstream.
   * @returns the ID of the call.
   */
  async pay(behaviour: Behaviour, phoneNumber = PHONE, ...usd: number[]): Promise<string> {
    this.behaviour = behaviour;
    const amounts = usd.length > 0 ? usd : [USD];
    const airtimes = amounts.map((valueInUSD) => ({ countryToSend: 'Kenya', phoneNumber, valueInUSD }));
    const { proxy, app } = this.paying;
    const { headers } = await proxy.post(this.key ?? app, '/payouts/airtime', { airtimes });
    return headers['x-call-id'] ?? '';
  }

  /** State of the first payout of a call. */
  async stateOf(call: string): Promise<string | null> {
    const { proxy, app } = this.paying;
    return (await proxy.get(this.key ?? app, `/v1/payouts/${call}.0`).expect(200)).body.state;
  }

  statesOf(...calls: string[]): Promise<(string | null)[]> {
    return Promise.all(calls.map((call) => this.stateOf(call)));
  }

  /** Acts in the activity log, oldest first. */
  acts(action: string): Promise<{ call_id: string; reason: string; after: string }[]> {
    const sql = 'SELECT call_id, reason, after FROM activity WHERE action = $1 ORDER BY id';
    return this.paying.proxy.database.query(sql, [action]);
  }

  /** Kinds of the contradictions that raised an alarm, oldest first. */
  async contradictions(): Promise<string[]> {
    const acts = await this.acts('transaction_contradicted');
    return acts.map(({ after }) => (JSON.parse(after) as { kind: string }).kind);
  }

  /** Makes a transaction, and does not list it. */
  shown(more: Partial<Transaction> = {}): Transaction {
    const chiRef = `ref-${(this.number += 1)}`;
    const names = { chiRef, id: `id-${chiRef}`, issueID: `batch-${chiRef}` };
    const issueDate = new Date().toISOString();
    const content = { type: 'airtime', status: 'paid', phoneNumber: PHONE, valueInUSD: USD };
    return { ...names, issueDate, ...content, ...more };
  }

  private make(body: string): Transaction[] {
    const { airtimes = [], momos = [] } = JSON.parse(body) as Record<string, Transaction[]>;
    return [
      ...airtimes.map(({ phoneNumber, valueInUSD }) => this.shown({ phoneNumber, valueInUSD })),
      ...momos.map(({ phoneNumber, valueInUSD }) => this.shown({ phoneNumber, valueInUSD, type: 'momo' })),
    ];
  }
}
