import { join } from 'node:path';
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { EpochService } from '../../continuity/fence/epoch.service';
import { SpoolWriter, Spool } from '../../continuity/spool/spool';
import { MetricsService } from '../../http/metrics/metrics.service';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { codeOf } from '../../platform/errors/error-code';
import { asRecorded } from '../../platform/privacy/recorded';
import { StorageService } from '../../platform/storage/storage.service';
import { LocalCopies } from '../copies/local-copies';
import { insertKeptOutcome } from '../outcomes/outcomes';
import { NewOutcome, NewTry, UpstreamItem } from '../records/records';

/**
 * Spools outcomes that could not be written to DATA_DIR/outcomes, and writes them once the database is back:
 * in this process, or at its next start. The IDs in an answer thus survive the process. Log lines name calls
 * only.
 * See docs/internals/decisions/operation/0030-outcomes-survive-a-dead-database.md.
 */
@Injectable()
export class SpooledOutcomes implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Journal');
  private readonly writer: SpoolWriter<NewOutcome>;

  constructor(
    private readonly prisma: PrismaService,
    private readonly epoch: EpochService,
    private readonly copies: LocalCopies,
    storage: StorageService,
    metrics: MetricsService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    const spool = new OutcomeSpool(spoolFolder(this.settings.dataDir));
    this.writer = new SpoolWriter({
      spool,
      name: 'outcome',
      storage,
      write: (outcome) => this.write(outcome),
    });
    metrics.watch(
      'payout_proxy_spooled_outcomes',
      'Outcomes on the disk of this instance that are not yet recorded in the database.',
      () => this.writer.size,
    );
    metrics.watch(
      'payout_proxy_unrecorded_outcomes',
      'Calls that this instance sent and whose outcome it could not record yet. They are in doubt, also ' +
        'while the database cannot be read.',
      () => this.writer.unwritten,
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.writer.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.writer.stop();
    await this.copies.onApplicationShutdown(); // Nest runs it concurrently with this one.
  }

  /** Returns whether this instance knows the outcome of a call and could not record it yet. */
  has(id: string): boolean {
    return this.writer.has(id);
  }

  /** Spools an outcome while the journal retries, unless it is spooled already. Never throws. */
  async keep(outcome: NewOutcome): Promise<void> {
    const { intentId: id } = outcome;
    this.writer.take(id);
    try {
      await this.writer.keep(id, outcome);
    } catch (error) {
      this.writer.remember(id, outcome);
      // A person finds the payment by these IDs. They are masked if they are contacts.
      const line = { call_id: id, code: codeOf(error), outcome: outcome.kind, transactions: idsOf(outcome) };
      this.logger.error(line, 'outcome can be neither recorded nor spooled, keep this line');
    }
  }

  /** Called after the journal wrote the outcome, or left it to this service. */
  async release(id: string, isWritten: boolean): Promise<void> {
    await this.writer.release(id, isWritten);
  }

  /**
   * Writes an outcome unless it exists.
   * @returns whether its row is confirmed. Without its standby, a found row may still be lost.
   */
  private async write(outcome: NewOutcome): Promise<boolean> {
    const written = await insertKeptOutcome(this.prisma, outcome, this.settings);
    if (!written) return false;
    await this.prisma.confirm();
    this.epoch.remember('answered', outcome.intentId);
    this.copies.addOutcome(written.record);
    return true;
  }
}

/** Returns the IDs of the upstream's transactions in an answer. */
function idsOf({ items }: NewOutcome): string[] {
  const ids = items.flatMap(
    ({ upstreamId, upstreamRef, batchRef }) => upstreamId ?? upstreamRef ?? batchRef ?? [],
  );
  return [...new Set(ids)].map((id) => asRecorded(id));
}

/** An outcome as JSON: bytes as base64, times and decimals as text. */
type OutcomeJson = Omit<NewOutcome, 'body' | 'items' | 'sentAt' | 'answeredAt' | 'tries'> & {
  body: string | null;
  items: (Omit<UpstreamItem, 'amountUsd' | 'feeUsd'> & { amountUsd: string | null; feeUsd: string | null })[];
  sentAt: string;
  answeredAt: string;
  tries: (Omit<NewTry, 'startedAt'> & { startedAt: string })[];
};

export const spoolFolder = (dataDir: string) => join(dataDir, 'outcomes');

/** The outcomes in a folder, one file per call. */
export class OutcomeSpool extends Spool<NewOutcome> {
  constructor(folder: string) {
    super(folder, {
      idOf: ({ intentId }) => intentId,
      toText: (outcome) => JSON.stringify({ ...outcome, body: outcome.body?.toString('base64') ?? null }),
      fromText: (text) => toOutcome(JSON.parse(text) as OutcomeJson),
    });
  }
}

function toOutcome(stored: OutcomeJson): NewOutcome {
  return {
    ...stored,
    body: stored.body === null ? null : Buffer.from(stored.body, 'base64'),
    items: stored.items.map((item) => ({
      ...item,
      amountUsd: usdOf(item.amountUsd),
      feeUsd: usdOf(item.feeUsd),
    })),
    sentAt: new Date(stored.sentAt),
    answeredAt: new Date(stored.answeredAt),
    tries: stored.tries.map((one) => ({ ...one, startedAt: new Date(one.startedAt) })),
  };
}

function usdOf(text: string | null): Decimal | null {
  return text === null ? null : new Decimal(text);
}
