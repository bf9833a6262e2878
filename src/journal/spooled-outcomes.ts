import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { MetricsService } from '../http/metrics/metrics.service';
import { RunningConfig } from '../platform/config/config';
import { Loaded } from '../platform/config/config.module';
import { EpochService } from '../platform/database/epoch.service';
import { PrismaService } from '../platform/database/prisma.service';
import { asRecorded } from '../platform/privacy/recorded';
import { isUnavailable } from '../platform/database/unavailable';
import { LocalCopies } from './local-copies';
import { OutcomeSpool, spoolFolder } from './outcome-spool';
import { insertKeptOutcome } from './outcomes';
import { NewOutcome } from './records';

const EVERY_MS = 2_000;

/**
 * Keeps the outcomes that could not be written to the database, in DATA_DIR/outcomes, and writes them once the database
 * is back: in this process, or at its next start. The IDs in an answer are then not lost with the process. Lines of the
 * log name calls only.
 */
@Injectable()
export class SpooledOutcomes implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Journal');
  private readonly spool: OutcomeSpool;
  private readonly settings: RunningConfig;
  /** The calls with a file. */
  private readonly kept = new Set<string>();
  /** Those of them whose outcome the journal still tries to write. */
  private readonly inHand = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> | undefined;

  constructor(
    private readonly prisma: PrismaService,
    private readonly epoch: EpochService,
    private readonly copies: LocalCopies,
    metrics: MetricsService,
    config: ConfigService<Loaded, true>,
  ) {
    this.settings = config.get('settings', { infer: true });
    this.spool = new OutcomeSpool(spoolFolder(this.settings.dataDir));
    metrics.watchSpooledOutcomes(() => this.kept.size);
  }

  async onApplicationBootstrap(): Promise<void> {
    try {
      for (const id of await this.spool.ids()) this.kept.add(id);
      await this.spool.removeUnfinished();
    } catch {
      this.logger.error('spooled outcomes cannot be read');
    }
    this.begin();
    this.timer = setInterval(() => this.begin(), EVERY_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.working;
    await this.copies.onApplicationShutdown(); // Nest calls it at the same time as this one
  }

  /** Keeps an outcome while the journal tries to write it again, unless it is kept already. It never throws. */
  async keep(outcome: NewOutcome): Promise<void> {
    this.inHand.add(outcome.intentId);
    if (this.kept.has(outcome.intentId)) return;
    try {
      await this.spool.keep(outcome);
      this.kept.add(outcome.intentId);
    } catch (error) {
      // The IDs are what a person needs to find the payment. They are masked if they are contacts.
      const { code } = error as { code?: string };
      const line = { call_id: outcome.intentId, code, outcome: outcome.kind, transactions: idsOf(outcome) };
      this.logger.error(line, 'outcome can be neither recorded nor spooled, keep this line');
    }
  }

  /** The journal wrote the outcome, or leaves that to this service. */
  async release(id: string, isWritten: boolean): Promise<void> {
    this.inHand.delete(id);
    if (isWritten) await this.remove(id);
  }

  private begin(): void {
    if (this.kept.size > 0) this.working ??= this.writeAll().finally(() => (this.working = undefined));
  }

  private async writeAll(): Promise<void> {
    for (const id of [...this.kept].filter((one) => !this.inHand.has(one))) {
      try {
        if (!(await this.write(id))) continue;
        await this.remove(id);
        this.logger.warn({ call_id: id }, 'spooled outcome recorded');
      } catch (error) {
        if (isUnavailable(error)) return;
        this.logger.error({ call_id: id }, 'spooled outcome not recorded');
      }
    }
  }

  /**
   * Writes an outcome, unless it is there.
   * @returns whether it is there for certain. Without its standby, a row that was found may still be lost.
   */
  private async write(id: string): Promise<boolean> {
    const outcome = await this.spool.read(id);
    if (!outcome) this.kept.delete(id);
    const written = outcome && (await insertKeptOutcome(this.prisma, outcome, this.settings));
    if (!written) return false;
    await this.prisma.confirm();
    this.epoch.remember('answered', id);
    this.copies.addOutcome(written.record);
    return true;
  }

  private async remove(id: string): Promise<void> {
    await this.spool.remove(id).catch(() => this.logger.error({ call_id: id }, 'spooled outcome not removed'));
    this.kept.delete(id);
  }
}

/** Returns the IDs of the upstream's transactions in an answer. */
function idsOf({ items }: NewOutcome): string[] {
  const ids = items.flatMap(({ upstreamId, upstreamRef, batchRef }) => upstreamId ?? upstreamRef ?? batchRef ?? []);
  return [...new Set(ids)].map((id) => asRecorded(id));
}
