import { Decimal } from 'decimal.js';
import { Client } from 'pg';
import { isRecordOf, ofAccount } from '../../../journal/records/accounts';
import { EXECUTED, OPEN } from '../../../operations/lifecycle/lifecycle';
import { Prisma } from '../../../platform/database/generated/client';
import { uuidFloor, uuidTime } from '../../../platform/database/uuid';
import { DELETING, Plan, toleranceOf } from '../../book/plan';
import { IncompleteRecord, WalletRecord } from '../totals.dto';
import { Explanations } from './entry-matching';
import { batchOf } from './wallet-offers';

/** Period in which an earlier, longer listing counts. The upstream archives older transactions. */
const REMEMBERED_MS = 30 * 86_400_000;

/**
 * Decides whether the source of a run can be complete for the period. A listing has no paging and no end
 * mark, so it must reach back before the period and contain every known transaction. A statement covers the
 * period chosen by its author, and only must not be empty.
 */
export async function listingFaults(db: Client, plan: Plan): Promise<IncompleteRecord[]> {
  const { rows } = await db.query<ListingExtent>(extentOf(plan));
  const extent = rows[0] ?? { rows: 0, kept: 0, oldest: null };
  if (extent.rows === 0) {
    const source = plan.source === 'statement' ? 'The statement' : "The upstream's listing";
    const detail = `${source} is empty, so it may be incomplete. Start the run again when it is not.`;
    return [{ reason: 'listing_empty', detail }];
  }
  if (plan.source === 'statement') return [];
  return [
    ...(await startsLate(db, plan, extent)),
    ...(await shorter(db, plan, extent)),
    ...(await lacksKnown(db, plan)),
  ];
}

interface ListingExtent {
  rows: number;
  /** Transactions of the period and its margin. */
  kept: number;
  oldest: Date | null;
}

function extentOf({ readId }: Plan): Prisma.Sql {
  return Prisma.sql`SELECT e.rows::float8 AS rows, e.kept::float8 AS kept,
    (SELECT min(issued_at) FROM upstream_transaction WHERE read_id = ${readId}::uuid) AS oldest
    FROM source_read_end e WHERE e.read_id = ${readId}::uuid`;
}

async function startsLate(db: Client, plan: Plan, { oldest }: ListingExtent): Promise<IncompleteRecord[]> {
  if (oldest !== null && oldest < plan.from) return [];
  const { rows } = await db.query<{ proven: boolean }>(accountIsYounger(plan));
  if (rows[0]?.proven) return [];
  const from = plan.from.toISOString();
  const detail =
    oldest === null
      ? `The upstream's listing contains no times, so it may not reach back to ${from}. Ask the upstream ` +
        'for a complete listing.'
      : `The oldest transaction that the upstream lists is from ${oldest.toISOString()}, so older ` +
        `transactions of the period, which starts at ${from}, may be missing. Choose a period that starts ` +
        'after that transaction, or ask the upstream for a complete listing.';
  return [{ reason: 'listing_starts_late', detail }];
}

/**
 * Returns the condition that the account provably has no payment before the period. Each of its wallets must
 * be shown from its beginning at zero, without a loss of value before the period. Our records must have no
 * payment before the period, and no earlier listing an older transaction.
 */
function accountIsYounger({ account, from, readId, walletsReadId, settings }: Plan): Prisma.Sql {
  if (walletsReadId === null) return Prisma.sql`SELECT FALSE AS proven`;
  const tolerance = Prisma.sql`${settings.balanceToleranceUsd}::numeric`;
  const begins = Prisma.sql`${from}::timestamptz`;
  const isOfAccount = isRecordOf('r.account', account);
  const entries = Prisma.sql`
    SELECT FROM upstream_wallet_entry e WHERE e.read_id = r.id AND e.wallet_id = w.wallet_id`;
  // Entries are listed newest first. A reading from before the period shows no later entries.
  const shown = Prisma.sql`
    SELECT FROM source_read r JOIN source_read_end x ON x.read_id = r.id AND x.complete
      JOIN upstream_wallet l ON l.read_id = r.id AND l.wallet_id = w.wallet_id
    WHERE r.source = 'wallets' AND ${isOfAccount} AND r.id <= ${walletsReadId}::uuid
      AND r.read_at >= ${begins}
      AND coalesce((
        SELECT abs(e.balance_before) <= ${tolerance} FROM upstream_wallet_entry e
        WHERE e.read_id = r.id AND e.wallet_id = w.wallet_id ORDER BY e.ordinal DESC LIMIT 1
      ), abs(l.balance) <= ${tolerance} AND NOT EXISTS (${entries}), FALSE)
      AND NOT EXISTS (${entries} AND coalesce(e.entered_at < ${begins}, TRUE)
        AND coalesce(e.new_balance < e.balance_before - ${tolerance}, e.amount < 0, TRUE))`;
  const earlier = Prisma.sql`
    SELECT FROM upstream_transaction t WHERE t.issued_at < ${begins} AND t.read_id IN (
      SELECT r.id FROM source_read r JOIN source_read_end x ON x.read_id = r.id AND x.complete
      WHERE r.source = 'transactions' AND ${isOfAccount} AND r.id < ${readId}::uuid
        AND r.id >= ${rememberedBefore(readId)}::uuid)`;
  const payments = Prisma.sql`
    SELECT FROM intent i JOIN outcome o ON o.intent_id = i.id
    WHERE (o.kind = 'succeeded' OR EXISTS (
        SELECT FROM settlement s WHERE s.intent_id = i.id AND s.resolution = 'confirmed'))
      AND i.id < ${uuidFloor(from)}::uuid AND o.sent_at < ${begins}
      AND i.operation IN (SELECT operation FROM compared_operation WHERE paid_at_once)
      AND ${ofAccount('i.client_id', account)}`;
  return Prisma.sql`
    SELECT EXISTS (SELECT FROM upstream_wallet WHERE read_id = ${walletsReadId}::uuid)
      AND NOT EXISTS (SELECT FROM upstream_wallet w WHERE w.read_id = ${walletsReadId}::uuid
        AND NOT EXISTS (${shown}))
      AND NOT EXISTS (${payments}) AND NOT EXISTS (${earlier}) AS proven`;
}

/** Returns a fault if an earlier listing had more transactions of the period, not counting deleted ones. */
async function shorter(
  db: Client,
  { account, readId }: Plan,
  extent: ListingExtent,
): Promise<IncompleteRecord[]> {
  const since = rememberedBefore(readId);
  const { rows } = await db.query<{ rows: number | null; kept: number | null }>(Prisma.sql`
    SELECT max(e.rows)::float8 AS rows,
      max(e.kept) FILTER (WHERE r.from_at = own.from_at AND r.to_at = own.to_at)::float8 AS kept
    FROM source_read own, source_read r JOIN source_read_end e ON e.read_id = r.id AND e.complete
    WHERE own.id = ${readId}::uuid AND r.source = 'transactions' AND ${isRecordOf('r.account', account)}
      AND r.id < own.id AND r.id >= ${since}::uuid`);
  const before = { rows: rows[0]?.rows ?? 0, kept: rows[0]?.kept ?? 0 };
  const where = before.rows > extent.rows ? 'rows' : 'kept';
  if (before[where] <= extent[where]) return [];
  const deletions = await db.query<{ count: number }>(Prisma.sql`
    SELECT count(*)::float8 AS count FROM call_state
    WHERE call_id >= ${since}::uuid AND operation = ANY (${DELETING}::text[])
      AND ${ofAccount('client_id', account)} AND state = ANY (${[...EXECUTED, ...OPEN]}::text[])`);
  const missing = before[where] - extent[where] - (deletions.rows[0]?.count ?? 0);
  if (missing <= 0) return [];
  const period = where === 'kept' ? ' in this period' : '';
  const detail =
    `The upstream lists ${extent[where]} transactions${period}, but listed ${before[where]} before. At ` +
    `least ${missing} are missing. Start the run again later, and ask the upstream for the reason.`;
  return [{ reason: 'listing_shorter', detail }];
}

/** Counts the missing transactions of undecided findings. The run that found them saw them in the listing. */
async function lacksKnown(db: Client, { account, from, to, runId }: Plan): Promise<IncompleteRecord[]> {
  const { rows } = await db.query<{ missing: number }>(Prisma.sql`
    SELECT count(*)::float8 AS missing FROM finding f
    CROSS JOIN LATERAL (
      SELECT s.* FROM finding_sight s WHERE s.finding_id = f.id ORDER BY s.run_id DESC LIMIT 1
    ) AS observation
    JOIN reconciliation_run r ON r.id = observation.run_id LEFT JOIN source_read x ON x.id = r.read_id
    WHERE f.category IN ('missing_local', 'duplicate_upstream') AND ${isRecordOf('f.account', account)}
      AND f.occurred_at >= ${from}::timestamptz AND f.occurred_at < ${to}::timestamptz
      AND f.run_id <> ${runId}::uuid
      AND observation.impact_usd <> 0 AND x.source IS DISTINCT FROM 'statement'
      AND coalesce(
        (SELECT s.state FROM finding_step s WHERE s.finding_id = f.id ORDER BY s.id DESC LIMIT 1),
        'reopened') = 'reopened'
      AND coalesce(f.upstream_ref, f.upstream_id) IS NOT NULL
      AND NOT EXISTS (SELECT FROM theirs t WHERE t.upstream_ref = f.upstream_ref)
      AND NOT EXISTS (SELECT FROM theirs t WHERE t.upstream_id = f.upstream_id)`);
  const missing = rows[0]?.missing ?? 0;
  if (missing === 0) return [];
  const detail =
    `The upstream's listing lacks ${missing} transactions that it listed before and that have open ` +
    'findings. Start the run again later. If the upstream has withdrawn them, resolve the findings by hand.';
  return [{ reason: 'listing_lacks_known', detail }];
}

function rememberedBefore(readId: string): string {
  return uuidFloor(new Date(uuidTime(readId).getTime() - REMEMBERED_MS));
}

/** The wallets of a run, and the explanations of their entries. */
interface ExplainedWallets {
  statements: WalletRecord[];
  /** The wallets that show at least one entry. */
  withEntries: ReadonlySet<string>;
  debits: Explanations;
}

/**
 * Decides whether the entries of the wallets can be complete for the period. A missing entry may be a fee or
 * a theft. Only the newest entries are shown, so they must reach back before the period and be recent.
 */
export async function entryFaults(
  db: Client,
  plan: Plan,
  readId: string,
  judged: ExplainedWallets,
): Promise<IncompleteRecord[]> {
  const { statements, withEntries } = judged;
  const { from, to, settings } = plan;
  const cut = statements.filter(
    ({ wallet_id: id, shown_since: since, closing_usd: balance }) =>
      since !== null ||
      (!withEntries.has(id) && new Decimal(balance ?? 0).abs().gt(settings.balanceToleranceUsd)),
  );
  if (cut.length > 0) {
    const since = cut
      .map(({ wallet_id: id, shown_since }) => `${id} (${shown_since ?? 'no entry'})`)
      .join(', ');
    const detail =
      `The upstream does not show the entries of some wallets back to ${from.toISOString()}: ${since}. ` +
      'What left these wallets before cannot be checked. Choose a period that starts later, and run more ' +
      'often.';
    return [{ reason: 'entries_start_late', detail }];
  }
  const detail =
    `The upstream shows outdated entries of its wallets, so what left them until ${to.toISOString()} may ` +
    'be missing. Start the run again later.';
  const isOld = (await wereNewer(db, plan, readId)) || (await lackPayouts(db, plan, readId, judged.debits));
  return isOld ? [{ reason: 'entries_outdated', detail }] : [];
}

/** Returns whether an earlier reading showed a newer entry of a wallet. */
async function wereNewer(db: Client, { account }: Plan, readId: string): Promise<boolean> {
  const newest = (read: Prisma.Sql) => Prisma.sql`(
      SELECT max(e.entered_at) FROM upstream_wallet_entry e
      WHERE e.read_id = ${read} AND e.wallet_id = w.wallet_id)`;
  const { rowCount } = await db.query(Prisma.sql`
    SELECT FROM source_read r
    JOIN source_read_end x ON x.read_id = r.id AND x.complete
    CROSS JOIN upstream_wallet w
    WHERE w.read_id = ${readId}::uuid AND r.source = 'wallets' AND ${isRecordOf('r.account', account)}
      AND r.id < ${readId}::uuid AND r.id >= ${rememberedBefore(readId)}::uuid
      AND ${newest(Prisma.sql`r.id`)} > ${newest(Prisma.sql`w.read_id`)} LIMIT 1`);
  return rowCount === 1;
}

/** Returns whether no entry shows payouts of ours that moved money long before the wallets were read. */
async function lackPayouts(db: Client, plan: Plan, readId: string, debits: Explanations): Promise<boolean> {
  const used = [...debits.values()];
  const wholes = used.flatMap(({ batch, single }) => (single === null ? [batch] : []));
  const singles = used.flatMap(({ single }) => single ?? []);
  const { rowCount } = await db.query(Prisma.sql`
    SELECT FROM pair p JOIN ours o ON o.n = p.o JOIN theirs t ON t.n = p.t
    JOIN compared_operation c ON c.operation = o.operation AND c.paid_at_once AND NOT c.incoming
    WHERE o.in_period AND t.word = 'moved' AND t.usd > 0
      AND NOT (${batchOf(Prisma.sql`t`)} = ANY (${wholes}::text[]) OR t.n::text = ANY (${singles}::text[]))
      AND t.at < (SELECT read_at FROM source_read WHERE id = ${readId}::uuid)
        - make_interval(secs => ${toleranceOf(plan.settings) / 1_000})
    LIMIT 1`);
  return rowCount === 1;
}
