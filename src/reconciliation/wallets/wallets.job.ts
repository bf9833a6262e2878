import { Injectable, Logger } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { ReconciliationMetrics } from '../../http/metrics/reconciliation-metrics';
import { lastWalletActs, recordWalletActs, WalletAct, WalletState } from '../../journal/wallet-acts';
import { clock } from '../../platform/database/clock';
import { Loaded } from '../../platform/config/config.module';
import { PrismaService } from '../../platform/database/prisma.service';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { SourcesService } from '../sources/sources.service';
import { MAIN_ACCOUNT } from '../../platform/config/upstream-accounts';
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
      const dueInMs = newest + this.everyMs - clock.nowMs();
      if (dueInMs > 0) return Math.min(dueInMs, this.everyMs); // A database's clock may be set back.
      // Without the entries: an upstream may list thousands, and a run reads its own.
      await this.sources.wallets(MAIN_ACCOUNT, { causedBy: null, by: null }, 'balances');
      this.levels = await readWalletLevels(this.prisma, this.lowBalanceUsd);
      await this.recordWhatChanged(this.levels);
    } catch (err) {
      this.logger.warn({ err }, 'wallets not read, will retry');
    }
    return this.everyMs;
  }

  /** Records and logs each wallet that became low or recovered, once. A restart forgets no wallet. */
  private async recordWhatChanged(levels: WalletLevel[]): Promise<void> {
    const last = await lastWalletActs(this.prisma);
    const acts = levels.flatMap((level): WalletAct[] => {
      const known = last.get(level.walletId);
      if (level.isLow === (known?.action === 'wallet_low')) return [];
      const action = level.isLow ? 'wallet_low' : 'wallet_recovered';
      return [{ action, before: known?.after ?? null, after: stateOf(level) }];
    });
    await recordWalletActs(this.prisma, acts);
    for (const { action, after } of acts) {
      if (action === 'wallet_low') this.logger.warn(after, 'wallet balance is low');
      else this.logger.log(after, 'wallet balance has recovered');
    }
  }
}

function stateOf({ walletId, type, balanceUsd, lowUsd, runwaySeconds }: WalletLevel): WalletState {
  return {
    wallet_id: walletId,
    wallet_type: type,
    balance_usd: balanceUsd.toFixed(),
    low_balance_usd: lowUsd?.toFixed() ?? null,
    runway_seconds: runwaySeconds,
  };
}
