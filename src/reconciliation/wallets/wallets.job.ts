import { Inject, Injectable, Logger } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { MeasuredWallet, ReconciliationMetrics } from '../../http/metrics/reconciliation-metrics';
import {
  lastWalletActs,
  recordWalletActs,
  WalletAct,
  walletKey,
  WalletState,
} from '../../journal/activity/activity';
import { recordedAccount } from '../../journal/records/accounts';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { MAIN_ACCOUNT, accountNames } from '../../platform/config/upstream/upstream-accounts';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { uuidFloor } from '../../platform/database/uuid';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { asRecorded, proseAsRecorded } from '../../platform/privacy/recorded';
import { BY_ITSELF } from '../sources/source-read';
import { SourcesService } from '../sources/sources.service';

/** Period of the forecast, in ms. A day includes the hours without traffic. */
const FORECAST_MS = 24 * 3_600_000;

/** A wallet in the newest reading, with a forecast. */
interface WalletLevel extends MeasuredWallet {
  /** Amount spent from the wallet between the readings of the last day. */
  spentUsd: Decimal;
  readAt: Date;
}

interface LevelRow extends Pick<WalletLevel, 'account' | 'walletId' | 'type' | 'readAt'> {
  balance: string;
  spent: string;
  seconds: number;
}

/**
 * Reads the wallets of the newest complete reading of each upstream account, and their spending in the last
 * day. A balance that rises between two readings is a top-up, and hides the spending between them.
 * @param lowBalanceUsd balances below which wallets are low, by type or ID. A name may begin with the
 * account, such as `kenya/airtime`.
 */
export async function readWalletLevels(
  prisma: Pick<ReaderPrisma, '$queryRaw'>,
  lowBalanceUsd: ReadonlyMap<string, string>,
): Promise<WalletLevel[]> {
  const since = uuidFloor(new Date(clock.nowMs() - FORECAST_MS));
  const rows = await prisma.$queryRaw<LevelRow[]>`
    WITH reading AS (
      SELECT r.id, coalesce(r.account, ${MAIN_ACCOUNT}) AS account, e.ended_at FROM source_read r
        JOIN source_read_end e ON e.read_id = r.id
      WHERE r.source = 'wallets' AND e.complete AND r.id >= ${since}::uuid
    ), level AS (
      SELECT g.account, w.wallet_id, w.type, w.balance, g.ended_at,
        greatest(lag(w.balance) OVER (PARTITION BY g.account, w.wallet_id ORDER BY g.ended_at) - w.balance,
          0) AS spent
      FROM reading g JOIN upstream_wallet w ON w.read_id = g.id WHERE w.balance IS NOT NULL
    )
    SELECT account, wallet_id AS "walletId", (array_agg(type ORDER BY ended_at DESC))[1] AS type,
      (array_agg(balance ORDER BY ended_at DESC))[1]::text AS balance, coalesce(sum(spent), 0)::text AS spent,
      extract(epoch FROM max(ended_at) - min(ended_at))::float AS seconds, max(ended_at) AS "readAt"
    FROM level GROUP BY account, wallet_id
    HAVING max(ended_at) = (SELECT max(g.ended_at) FROM reading g WHERE g.account = level.account)
    ORDER BY account, wallet_id`;
  return rows.map((row) => toLevel(row, lowBalanceUsd));
}

function toLevel(
  { balance, spent, seconds, ...row }: LevelRow,
  lowBalanceUsd: ReadonlyMap<string, string>,
): WalletLevel {
  const { account, walletId, type } = row;
  const [balanceUsd, spentUsd] = [new Decimal(balance), new Decimal(spent)];
  const names = [`${account}/${walletId}`, walletId, `${account}/${type}`, type ?? ''];
  const low = names.map((name) => lowBalanceUsd.get(name)).find((usd) => usd !== undefined);
  const lowUsd = low === undefined ? null : new Decimal(low);
  return {
    ...row,
    walletId: asRecorded(walletId) ?? '',
    type: proseAsRecorded(type),
    balanceUsd,
    spentUsd,
    runwaySeconds: runwayOf(balanceUsd, spentUsd, seconds),
    lowUsd,
    isLow: lowUsd !== null && balanceUsd.lessThan(lowUsd),
  };
}

/** Returns how long a balance lasts, in seconds, at this spending per period. */
export function runwayOf(balanceUsd: Decimal, spentUsd: Decimal, seconds: number): number | null {
  if (spentUsd.isZero() || seconds === 0) return null;
  return Decimal.max(balanceUsd, 0).times(seconds).div(spentUsd).round().toNumber();
}

/** Wait of a disabled job, in ms. */
const OFF_MS = 3_600_000;

/** Reads the wallets of each upstream account every WALLETS_EVERY_SECONDS, and logs low ones. */
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
   * Reads the wallets, unless a worker or a run has just read them.
   * @returns the delay until the next reading, in ms.
   */
  async turn(): Promise<number> {
    try {
      this.levels ??= await readWalletLevels(this.prisma, this.lowBalanceUsd);
      const due = new Map(this.accounts.map((account) => [account, this.dueInMs(account)]));
      const waitMs = Math.min(...due.values());
      if (waitMs > 0) return Math.min(waitMs, this.everyMs); // A database clock may be set back.
      const now = this.accounts.filter((account) => (due.get(account) ?? 0) <= 0);
      // Without the entries: an upstream may list thousands, and a run reads its own. In parallel: a slow
      // account must not delay the others.
      const read = (account: string) => this.sources.wallets(account, BY_ITSELF, 'balances');
      await Promise.all(now.map(read));
      this.levels = await readWalletLevels(this.prisma, this.lowBalanceUsd);
      await this.recordChanges(this.levels);
    } catch (err) {
      this.logger.warn({ err }, 'wallets not read, will retry');
    }
    return this.everyMs;
  }

  /** Returns the delay until the next reading of an account, in ms. */
  private dueInMs(account: string): number {
    const own = this.levels?.filter((level) => level.account === account) ?? [];
    const newest = Math.max(0, ...own.map(({ readAt }) => readAt.getTime()));
    return newest + this.everyMs - clock.nowMs();
  }

  /** Records and logs each wallet that became low or recovered, once. A restart keeps this state. */
  private async recordChanges(levels: WalletLevel[]): Promise<void> {
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
