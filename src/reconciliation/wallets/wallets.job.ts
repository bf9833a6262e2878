import { Injectable, Logger } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { ReconciliationMetrics } from '../../http/metrics/reconciliation-metrics';
import { Loaded } from '../../platform/config/config.module';
import { PrismaService } from '../../platform/database/prisma.service';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { SourcesService } from '../sources/sources.service';
import { readWalletLevels, WalletLevel } from './wallet-levels';

/** How long a job that is switched off waits. */
const OFF_MS = 3_600_000;

/** Reads the wallets of the account every WALLETS_EVERY_SECONDS, and says when one becomes low. */
@Injectable()
export class WalletsJob implements Job {
  readonly name = 'wallets';
  private readonly logger = new Logger('Wallets');
  private readonly everyMs: number;
  private readonly lowBalanceUsd: ReadonlyMap<string, string>;
  /** Undefined while another process reads the wallets. */
  private levels: WalletLevel[] | undefined;

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    metrics: ReconciliationMetrics,
    config: ConfigService<Loaded, true>,
  ) {
    const settings = config.get('settings', { infer: true });
    this.everyMs = settings.walletsEverySeconds * 1_000;
    this.lowBalanceUsd = settings.walletLowBalanceUsd;
    metrics.watchWallets(() => this.levels);
  }

  async run(turns: Turns): Promise<void> {
    while (!turns.areOver) {
      const waitMs = this.everyMs === 0 ? OFF_MS : await this.turn();
      await turns.wait(waitMs);
    }
    this.levels = undefined;
  }

  /**
   * Reads the wallets, unless a worker or a run has done so shortly before.
   * @returns after how long the next reading is due.
   */
  async turn(): Promise<number> {
    try {
      this.levels ??= await readWalletLevels(this.prisma, this.lowBalanceUsd);
      const newest = Math.max(0, ...this.levels.map(({ readAt }) => readAt.getTime()));
      const dueInMs = newest + this.everyMs - Date.now();
      if (dueInMs > 0) return dueInMs;
      // Without the entries: an upstream may list thousands, and a run reads its own.
      await this.sources.wallets({ causedBy: null, by: null }, 'balances');
      const before = this.levels;
      this.levels = await readWalletLevels(this.prisma, this.lowBalanceUsd);
      this.sayWhatChanged(before, this.levels);
    } catch (err) {
      this.logger.warn({ err }, 'wallets not read, will retry');
    }
    return this.everyMs;
  }

  /** Logs each wallet that became low or recovered, once. */
  private sayWhatChanged(before: WalletLevel[], after: WalletLevel[]): void {
    const wereLow = new Set(before.filter(({ isLow }) => isLow).map(({ walletId }) => walletId));
    for (const { walletId, type, balanceUsd, lowUsd, runwaySeconds, isLow } of after) {
      if (isLow === wereLow.has(walletId)) continue;
      const fields = {
        wallet_id: walletId,
        wallet_type: type,
        balance_usd: balanceUsd.toFixed(),
        low_balance_usd: lowUsd?.toFixed(),
        runway_seconds: runwaySeconds,
      };
      if (isLow) this.logger.warn(fields, 'wallet balance is low');
      else this.logger.log(fields, 'wallet balance has recovered');
    }
  }
}
