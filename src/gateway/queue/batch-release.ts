import { Injectable, Logger } from '@nestjs/common';
import { Caller } from '../../access/callers/caller';
import { EpochService } from '../../continuity/fence/epoch.service';
import { ProcessService } from '../../continuity/fence/process.service';
import { MetricsService } from '../../http/metrics/metrics.service';
import { LocalCopies } from '../../journal/copies/local-copies';
import { openQueued } from '../../journal/queue/queue';
import { QueueRuling, releaseClaimed } from '../../journal/queue/releases';
import { Release } from '../../journal/records/records';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { Permit } from '../admission-control/permit';
import { ExchangeService } from '../forwarding/exchange.service';
import { MayPay } from '../may-pay/may-pay.service';
import { UpstreamAccount } from '../upstream/upstream-account';
import { ClaimedCall, readClaimed } from './claimed-call';
import { Checked, QueueRules } from './queue-rules';

/** Time until a postponed call is tried again, in ms. */
const POSTPONED_MS = 30_000;

/** Releases claimed calls and sends them, or ends them. */
@Injectable()
export class BatchRelease {
  private readonly logger = new Logger('Queue');
  /** Claimed calls of batches that failed. */
  private stuck: string[] = [];
  /** When postponed calls are tried again, by ID. */
  private readonly later = new Map<string, number>();
  private readonly inFlight = new Set<Promise<void>>();
  /** The accounts whose upstream did not take the last call. */
  private readonly unreachable = new Set<string>();

  constructor(
    private readonly prisma: PrismaService,
    private readonly process: ProcessService,
    private readonly rules: QueueRules,
    private readonly mayPay: MayPay,
    private readonly exchanges: ExchangeService,
    private readonly copies: LocalCopies,
    private readonly epoch: EpochService,
    private readonly metrics: MetricsService,
  ) {}

  /** The IDs of calls that are not tried again yet. */
  get postponed(): string[] {
    for (const [id, until] of this.later) if (until <= performance.now()) this.later.delete(id);
    return [...this.later.keys()];
  }

  /** Whether the upstream of an account did not take the last call. */
  isUnreachable({ name }: UpstreamAccount): boolean {
    return this.unreachable.has(name);
  }

  /** Opens the calls of failed batches to all instances again. Released ones have left the queue. */
  async reopen(): Promise<void> {
    const ids = this.stuck;
    if (ids.length === 0) return;
    await openQueued(this.prisma, ids);
    this.stuck = this.stuck.filter((id) => !ids.includes(id));
  }

  /** Resolves once the calls in flight are answered and recorded. */
  async idle(): Promise<void> {
    await Promise.all(this.inFlight);
  }

  /**
   * Decides about claimed calls of an account in one transaction, and sends those that it releases.
   * @param ids of the claimed calls.
   * @param permits for the calls to send. One is taken for each. Empty for calls that can only end.
   */
  async run(account: UpstreamAccount, ids: string[], permits: Permit[]): Promise<void> {
    let unsent: ClaimedCall[] = [];
    try {
      unsent = await readClaimed(this.prisma, ids);
      const checked = await Promise.all(unsent.map((call) => this.check(account, call, permits.length > 0)));
      const intents = unsent.map(({ intent }) => intent);
      const { released, release, outcomes } = await releaseClaimed(
        this.prisma,
        this.process.number,
        intents,
        async (tx, queued) => this.postpone(await this.rules.rule(tx, checked, queued)),
      );
      for (const record of outcomes) this.copies.addOutcome(record);
      const isReleased = ({ intent }: ClaimedCall) => released.has(intent.id);
      const sent = unsent.filter(isReleased);
      if (sent[0]) this.epoch.remember('approved', sent[0].intent.id);
      unsent = unsent.filter((call) => !isReleased(call));
      for (const call of sent) this.send(call, release, permits.pop());
    } catch (error) {
      this.stuck.push(...ids); // its commit may have succeeded. Then nothing was sent, and it is in doubt
      throw error;
    } finally {
      for (const { outgoing } of unsent.map(({ prepared }) => prepared)) account.giveUp(outgoing);
    }
  }

  private async check(account: UpstreamAccount, call: ClaimedCall, maySend: boolean): Promise<Checked> {
    const checked = await this.rules.check(call);
    if (checked.ruling) return checked;
    const { outgoing } = call.prepared;
    // It may become the probe of an open circuit.
    const isSendable = maySend && !this.mayPay.obstacleTo('send', { sendable: { account, outgoing } });
    return isSendable ? checked : { ...checked, ruling: { kind: 'wait' } };
  }

  private postpone(rulings: Map<string, QueueRuling>): Map<string, QueueRuling> {
    for (const [id, ruling] of rulings)
      if (ruling.kind === 'wait' && ruling.postponed) this.later.set(id, performance.now() + POSTPONED_MS);
    return rulings;
  }

  /** Sends a released call. No app waits for its answer. */
  private send(claimed: ClaimedCall, release: Release, permit: Permit | undefined): void {
    const sending = this.exchange(claimed, release, permit).finally(() => this.inFlight.delete(sending));
    this.inFlight.add(sending);
  }

  private async exchange(claimed: ClaimedCall, release: Release, permit: Permit | undefined): Promise<void> {
    const call = claimed.as(claimed.requester as Caller, Infinity); // the ruling has read it
    try {
      const { answer } = await this.exchanges.send(call, claimed.prepared, release, permit);
      const { account } = claimed.prepared.outgoing;
      if (answer.kind === 'not_sent') this.unreachable.add(account);
      else this.unreachable.delete(account);
    } catch (err) {
      this.logger.error({ err, call_id: call.id }, 'outcome of a queued call not recorded, it is in doubt');
    } finally {
      permit?.release();
      this.metrics.count(call);
    }
  }
}
