import { Decimal } from 'decimal.js';
import { MeasuredWallet } from '../../http/metrics/reconciliation-metrics';
import { clock } from '../../platform/database/clock';
import { asRecorded, proseAsRecorded } from '../../platform/privacy/recorded';
import { MAIN_ACCOUNT } from '../../platform/config/upstream-accounts';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { uuidFloor } from '../../platform/database/uuid';

/** How far back the readings tell how fast a wallet is spent. A day has the hours without traffic too. */
const FORECAST_MS = 24 * 3_600_000;

/** A wallet as the newest reading shows it, with a forecast. */
export interface WalletLevel extends MeasuredWallet {
  /** What left the wallet between the readings of the last day. */
  spentUsd: Decimal;
  readAt: Date;
}

interface LevelRow {
  account: string;
  walletId: string;
  type: string | null;
  balance: string;
  spent: string;
  seconds: number;
  readAt: Date;
}

/**
 * Reads the wallets of the newest complete reading of each upstream account, and how fast they were spent in the last day. Balances that rise
 * between two readings are top-ups, and no spending. What is spent beside a top-up between the same two readings is not
 * seen.
 * @param lowBalanceUsd the balances below which wallets are low, by their type or ID. A name may begin with the account,
 * such as `kenya/airtime`.
 */
export async function readWalletLevels(
  prisma: Pick<ReaderPrisma, '$queryRaw'>,
  lowBalanceUsd: ReadonlyMap<string, string>,
): Promise<WalletLevel[]> {
  const since = uuidFloor(new Date(clock.nowMs() - FORECAST_MS));
  const rows = await prisma.$queryRaw<LevelRow[]>`
    WITH reading AS (
      SELECT r.id, coalesce(r.account, ${MAIN_ACCOUNT}) AS account, e.ended_at FROM source_read r JOIN source_read_end e ON e.read_id = r.id
      WHERE r.source = 'wallets' AND e.complete AND r.id >= ${since}::uuid
    ), level AS (
      SELECT g.account, w.wallet_id, w.type, w.balance, g.ended_at,
        greatest(lag(w.balance) OVER (PARTITION BY g.account, w.wallet_id ORDER BY g.ended_at) - w.balance, 0) AS spent
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

function toLevel(row: LevelRow, lowBalanceUsd: ReadonlyMap<string, string>): WalletLevel {
  const { account, walletId, type, seconds, readAt } = row;
  const [balanceUsd, spentUsd] = [new Decimal(row.balance), new Decimal(row.spent)];
  const names = [`${account}/${walletId}`, walletId, `${account}/${type}`, type ?? ''];
  const low = names.map((name) => lowBalanceUsd.get(name)).find((usd) => usd !== undefined);
  const lowUsd = low === undefined ? null : new Decimal(low);
  const runwaySeconds = runwayOf(balanceUsd, spentUsd, seconds);
  const isLow = lowUsd !== null && balanceUsd.lessThan(lowUsd);
  return {
    account,
    walletId: asRecorded(walletId) ?? '',
    type: proseAsRecorded(type),
    balanceUsd,
    spentUsd,
    runwaySeconds,
    lowUsd,
    isLow,
    readAt,
  };
}

/** Returns how long a balance lasts, if so much is spent in so many seconds. */
export function runwayOf(balanceUsd: Decimal, spentUsd: Decimal, seconds: number): number | null {
  if (spentUsd.isZero() || seconds === 0) return null;
  return Decimal.max(balanceUsd, 0).times(seconds).div(spentUsd).round().toNumber();
}
