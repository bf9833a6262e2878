import { Inject, Injectable, Logger } from '@nestjs/common';
import { ReconciliationMetrics } from '../../http/metrics/reconciliation-metrics';
import { lastWalletActs, recordWalletActs, WalletAct, walletKey, WalletState } from '../../journal/activity';
import { recordedAccount } from '../../journal/accounts';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/prisma.service';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { SourcesService } from '../sources/sources.service';
import { accountNames } from '../../platform/config/upstream-accounts';
import { readWalletLevels, WalletLevel } from './wallet-levels';
import { RunningConfig, SETTINGS } from '../../platform/config/config';

/** How long a job that is switched off waits. */
const OFF_MS = 3_600_000;

/** Reads the wallets of each upstream account every WALLETS_EVERY_SECONDS, and says when one becomes low. */
@Injectable()
export class WalletsJob implements Job {
  readonly name = 'wallets';
  private readonly logger = new Logger('Wallets');
  private readonly everyMs: number;
  private readonly lowBalanceUsd: ReadonlyMap<string, string>;
  private readonly accounts: string[];
  /** Undefined while another process reads the wallets. */
  private levels: WalletLevel[] | undefined;

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    metrics: ReconciliationMetrics,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.everyMs = settings.walletsEverySeconds * 1_000;
    this.lowBalanceUsd = settings.walletLowBalanceUsd;
    this.accounts = accountNames(settings);
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
      const due = new Map(this.accounts.map((account) => [account, this.dueInMs(account)]));
      const waitMs = Math.min(...due.values());
      if (waitMs > 0) return Math.min(waitMs, this.everyMs); // A database's clock may be set back.
      const now = this.accounts.filter((account) => (due.get(account) ?? 0) <= 0);
      // Without the entries: an upstream may list thousands, and a run reads its own. All at once, so that no account waits
      // for another one that is slow.
      const read = (account: string) => this.sources.wallets(account, { causedBy: null, by: null }, 'balances');
      await Promise.all(now.map(read));
      this.levels = await readWalletLevels(this.prisma, this.lowBalanceUsd);
      await this.recordWhatChanged(this.levels);
    } catch (err) {
      this.logger.warn({ err }, 'wallets not read, will retry');
    }
    return this.everyMs;
  }

  /** Returns after how long the next reading of an account is due. */
  private dueInMs(account: string): number {
    const own = this.levels?.filter((level) => level.account === account) ?? [];
    const newest = Math.max(0, ...own.map(({ readAt }) => readAt.getTime()));
    return newest + this.everyMs - clock.nowMs();
  }

  /** Records and logs each wallet that became low or recovered, once. A restart forgets no wallet. */
  private async recordWhatChanged(levels: WalletLevel[]): Promise<void> {
    const last = await lastWalletActs(this.prisma);
    const acts = levels.flatMap((level): WalletAct[] => {
      const known = last.get(walletKey(level.account, level.walletId));
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

function stateOf({ account, walletId, type, balanceUsd, lowUsd, runwaySeconds }: WalletLevel): WalletState {
  return {
    account: recordedAccount(account) ?? undefined,
    wallet_id: walletId,
    wallet_type: type,
    balance_usd: balanceUsd.toFixed(),
    low_balance_usd: lowUsd?.toFixed() ?? null,
    runway_seconds: runwaySeconds,
  };
}
