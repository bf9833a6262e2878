import { isRecordOf } from '../../journal/records/accounts';
import { Prisma } from '../../platform/database/generated/client';
import { Plan } from '../book/plan';
import { harmless } from './recipients';

/**
 * Adds `balance_gap` where the entries of a wallet do not join. The newest entries are listed, newest first.
 * Each entry must begin at the end of the one before it, and end after its amount. The newest must end at the
 * balance. It is undocumented whether amounts are signed, so either is accepted. Entries of an earlier
 * reading must still exist.
 */
export function addBalanceGaps({ account, from, settings }: Plan, readId: string): Prisma.Sql {
  const tolerance = Prisma.sql`${settings.balanceToleranceUsd}::numeric`;
  const far = (one: Prisma.Sql, other: Prisma.Sql) => Prisma.sql`abs(${one} - (${other})) > ${tolerance}`;
  const field = (name: string, ours: Prisma.Sql, theirs: Prisma.Sql) =>
    Prisma.sql`json_build_object(
      'field', ${name}::text, 'ours', trim_scale(${ours})::text, 'theirs', trim_scale(${theirs})::text)`;
  const [before, after] = [Prisma.sql`e.balance_before`, Prisma.sql`e.new_balance`];
  const ended = Prisma.sql`e.ended_before`;
  const added = Prisma.sql`e.balance_before + e.amount`;
  const taken = Prisma.sql`e.balance_before - e.amount`;
  const balance = Prisma.sql`e.balance`;
  return Prisma.sql`
    INSERT INTO pg_temp.difference
    SELECT 'balance_gap', ${ENTRY_SUBJECT}, NULL, NULL, NULL, NULL, NULL, ${WALLET},
      coalesce(e.entered_at, ${from}::timestamptz), 0,
      json_agg(g.field ORDER BY g.rank),
      json_build_object(
        'ours', NULL,
        'theirs', json_build_object(
          'read_id', ${readId}::uuid, 'wallet_id', ${WALLET}, 'ordinal', min(e.ordinal), 'at', e.entered_at),
        'match', NULL)
    FROM (${entries(readId, account, tolerance)}) AS e
    CROSS JOIN LATERAL (VALUES
      (1, ${far(before, ended)}, ${field('balance_before', ended, before)}),
      (2, ${far(after, added)} AND ${far(after, taken)}, ${field('new_balance', added, after)}),
      (3, e.ordinal = e.newest AND ${far(balance, after)}, ${field('balance', after, balance)}),
      (4, e.changed, ${field('new_balance_as_read_before', Prisma.sql`e.read_before`, after)})
    ) AS g(rank, holds, field)
    WHERE g.holds
    GROUP BY e.wallet_id, e.entered_at, e.untimed, e.nth`;
}

/** The wallet of an entry `e`, in the form of findings. */
export const WALLET = harmless(Prisma.sql`e.wallet_id`);

/** Identifies an entry `e` of `NAMED_ENTRIES` in the subject of a finding. */
export const ENTRY_SUBJECT = Prisma.sql`'wallet/' || ${WALLET} || '/'
  || coalesce(to_char(e.entered_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), e.untimed)
  || CASE WHEN e.nth > 1 THEN '#' || e.nth ELSE '' END`;

/** Amounts, which identify an entry without a time. */
const UNTIMED = Prisma.sql`CASE WHEN e.entered_at IS NULL THEN 'untimed/'
  || concat_ws('/', trim_scale(e.balance_before), trim_scale(e.amount), trim_scale(e.new_balance)) END`;

/** Position among the entries of a wallet with the same name. */
const NTH = Prisma.sql`row_number() OVER (PARTITION BY e.wallet_id, e.entered_at, ${UNTIMED}
  ORDER BY e.ordinal DESC)`;

/** Entries with their identifying columns. */
export const NAMED_ENTRIES = Prisma.sql`SELECT e.*, ${UNTIMED} AS untimed, ${NTH} AS nth
  FROM upstream_wallet_entry e`;

/** Returns each entry next to its predecessor, and its form in the last complete reading before this one. */
function entries(readId: string, account: string, tolerance: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT e.*, w.balance, min(e.ordinal) OVER wallet AS newest,
      lead(e.new_balance) OVER newest_first AS ended_before,
      ${UNTIMED} AS untimed, ${NTH} AS nth,
      b.new_balance AS read_before,
      b.new_balance IS NOT NULL AND NOT EXISTS (
        SELECT FROM upstream_wallet_entry s
        WHERE s.read_id = e.read_id AND s.wallet_id = e.wallet_id AND s.entered_at = e.entered_at
          AND abs(s.new_balance - b.new_balance) <= ${tolerance}) AS changed
    FROM upstream_wallet_entry e
    JOIN upstream_wallet w ON w.read_id = e.read_id AND w.wallet_id = e.wallet_id
    LEFT JOIN LATERAL (
      SELECT b.new_balance FROM upstream_wallet_entry b
      WHERE b.read_id = (
          SELECT r.id FROM source_read r JOIN source_read_end x ON x.read_id = r.id AND x.complete
          WHERE r.source = 'wallets' AND ${isRecordOf('r.account', account)} AND r.id < e.read_id
          ORDER BY r.id DESC LIMIT 1)
        AND b.wallet_id = e.wallet_id AND b.entered_at = e.entered_at
      ORDER BY b.ordinal LIMIT 1
    ) AS b ON TRUE
    WHERE e.read_id = ${readId}::uuid
    WINDOW wallet AS (PARTITION BY e.wallet_id),
      newest_first AS (PARTITION BY e.wallet_id ORDER BY e.ordinal)`;
}
