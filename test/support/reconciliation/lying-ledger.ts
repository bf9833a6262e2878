import { INestApplicationContext } from '@nestjs/common';
import { RunningConfig } from '../../../src/platform/config/config';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { answer } from '../network/fake-upstream';
import { PaymentScene, startPaying } from '../payments/paying';

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
  id: string;
  issueID: string;
  issueDate: string;
  type: string;
  status: string;
  phoneNumber: string;
  valueInUSD: number;
}

const HOUR_MS = 3_600_000;

/** A proxy in front of an upstream with a ledger of its own, whose answers may contradict the ledger. */
export class LyingLedger {
  readonly transactions: Transaction[] = [];
  /** Undefined tells the truth. */
  lie: Lie | undefined;
  private readonly queue: Transaction[] = [];
  private number = 0;

  private constructor(
    readonly paying: PaymentScene,
    readonly worker: INestApplicationContext,
  ) {
    const { upstream } = paying;
    // It lists what was made before this proxy, so the listing reaches back.
    this.transactions.push(this.transaction('+254700999999', 1, 'airtime', -HOUR_MS));
    upstream.behaviour = (request, response, socket) => {
      const [path = ''] = request.url.split('?');
      const reply = (data: unknown) => answer(200, { status: 'success', data })(request, response, socket);
      if (path.endsWith('/account/transactions')) return reply(this.transactions);
      if (path.endsWith('/account/transaction')) {
        const id = new URLSearchParams(request.url.split('?')[1]).get('id');
        return reply(this.transactions.find((one) => one.id === id));
      }
      if (path.endsWith('/wallets/list')) return reply([]);
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

  private make(body: string): Transaction[] {
    const { airtimes = [], momos = [] } = JSON.parse(body) as Record<string, Transaction[]>;
    return [
      ...airtimes.map(({ phoneNumber, valueInUSD }) => this.transaction(phoneNumber, valueInUSD, 'airtime')),
      ...momos.map(({ phoneNumber, valueInUSD }) => this.transaction(phoneNumber, valueInUSD, 'momo')),
    ];
  }

  private transaction(phoneNumber: string, valueInUSD: number, type: string, offsetMs = 0): Transaction {
    const chiRef = `ref-${(this.number += 1)}`;
    const issueDate = new Date(Date.now() + offsetMs).toISOString();
    const shared = { chiRef, issueDate, type, phoneNumber, valueInUSD, status: 'paid' };
    return { ...shared, id: `id-${chiRef}`, issueID: `batch-${chiRef}` };
  }
}
