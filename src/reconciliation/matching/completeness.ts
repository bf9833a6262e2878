import { Client } from 'pg';
import { EXECUTED, OPEN } from '../../operations/lifecycle';
import { uuidFloor, uuidTime } from '../../platform/database/uuid';
import { DELETING } from './compared-operations';
import { decimal, instant, texts, uuid } from './literals';
import { Plan } from './plan';

/** Why a run without findings is not clean. */
export const INCOMPLETE_REASONS = [
  'listing_empty',
  'listing_starts_late',
  'listing_shorter',
  'listing_lacks_known',
  'listing_lacks_payouts',
  'sums_differ',
] as const;
export type IncompleteReason = (typeof INCOMPLETE_REASONS)[number];

/** One reason, and what to do about it. */
export interface Incomplete {
  reason: IncompleteReason;
  /** A sentence for people; names nobody. */
  detail: string;
}

/** A listing that was longer than this one counts for this long: whatever the upstream archives is missed no longer. */
const REMEMBERED_MS = 30 * 86_400_000;

/**
 * Decides whether what a run compared with can be the whole of the period. A listing has no paging and no end mark, so it has
 * to prove that it reaches back before the period, and must not lack what is known to exist. A statement is handed in by
 * people for a period of their choice: it only must not be empty.
 */
export async function listingFaults(db: Client, plan: Plan): Promise<Incomplete[]> {
  const { rows } = await db.query<Span>(spanOf(plan));
  const span = rows[0] ?? { rows: 0, oldest: null };
  if (span.rows === 0) {
    const what = plan.source === 'statement' ? 'The statement' : "The upstream's listing";
    return [
      {
        reason: 'listing_empty',
        detail: `${what} names no transaction at all, so nothing shows that it is whole. Start the run again once there is one.`,
      },
    ];
  }
  if (plan.source === 'statement') return [];
  return [...(await startsLate(db, plan, span)), ...(await shorter(db, plan, span)), ...(await lacksKnown(db, plan))];
}

interface Span {
  rows: number;
  oldest: Date | null;
}

function spanOf({ readId }: Plan): string {
  return `SELECT e.rows::float8 AS rows, (SELECT min(issued_at) FROM upstream_transaction WHERE read_id = ${uuid(readId)}) AS oldest
    FROM source_read_end e WHERE e.read_id = ${uuid(readId)}`;
}

async function startsLate(db: Client, plan: Plan, { oldest }: Span): Promise<Incomplete[]> {
  if (oldest !== null && oldest < plan.from) return [];
  const { rows } = await db.query<{ proven: boolean }>(accountIsYounger(plan));
  if (rows[0]?.proven) return [];
  const from = plan.from.toISOString();
  const detail =
    oldest === null
      ? `The upstream's listing names no time, so nothing shows that it reaches back before ${from}. Ask the upstream for a whole listing.`
      : `The oldest transaction that the upstream lists is of ${oldest.toISOString()}, and nothing shows that there is none between it and the beginning of the period, ${from}, or before. Ask for a period that begins after that transaction, or ask the upstream for a whole listing.`;
  return [{ reason: 'listing_starts_late', detail }];
}

/**
 * Whether the account provably has no payment that is older than the period: each of its wallets is shown from its very
 * beginning at zero and has lost no value before the period, our records have no payment before it, and no earlier listing
 * had an older transaction.
 */
function accountIsYounger({ from, readId, walletsReadId, settings }: Plan): string {
  if (walletsReadId === null) return 'SELECT FALSE AS proven';
  const tolerance = decimal(settings.balanceToleranceUsd);
  const begins = instant(from);
  const entries = `SELECT FROM upstream_wallet_entry e WHERE e.read_id = r.id AND e.wallet_id = w.wallet_id`;
  // The entries are listed newest first. A look that was taken before the period says nothing of what followed it.
  const shown = `
    SELECT FROM source_read r JOIN source_read_end x ON x.read_id = r.id AND x.complete
      JOIN upstream_wallet l ON l.read_id = r.id AND l.wallet_id = w.wallet_id
    WHERE r.source = 'wallets' AND r.id <= ${uuid(walletsReadId)} AND r.read_at >= ${begins}
      AND coalesce((
        SELECT abs(e.balance_before) <= ${tolerance} FROM upstream_wallet_entry e
        WHERE e.read_id = r.id AND e.wallet_id = w.wallet_id ORDER BY e.ordinal DESC LIMIT 1
      ), abs(l.balance) <= ${tolerance} AND NOT EXISTS (${entries}), FALSE)
      AND NOT EXISTS (${entries} AND coalesce(e.entered_at < ${begins}, TRUE)
        AND coalesce(e.new_balance < e.balance_before - ${tolerance}, e.amount < 0, TRUE))`;
  const earlier = `
    SELECT FROM upstream_transaction t WHERE t.issued_at < ${begins} AND t.read_id IN (
      SELECT r.id FROM source_read r JOIN source_read_end x ON x.read_id = r.id AND x.complete
      WHERE r.source = 'transactions' AND r.id < ${uuid(readId)} AND r.id >= ${uuid(rememberedBefore(readId))})`;
  const payments = `
    SELECT FROM intent i JOIN outcome o ON o.intent_id = i.id AND o.kind = 'succeeded'
    WHERE i.id < ${uuid(uuidFloor(from))} AND o.sent_at < ${begins} AND i.operation IN (SELECT operation FROM compared_operation WHERE paid_at_once)`;
  return `
    SELECT EXISTS (SELECT FROM upstream_wallet WHERE read_id = ${uuid(walletsReadId)})
      AND NOT EXISTS (SELECT FROM upstream_wallet w WHERE w.read_id = ${uuid(walletsReadId)} AND NOT EXISTS (${shown}))
      AND NOT EXISTS (${payments}) AND NOT EXISTS (${earlier}) AS proven`;
}

/** An earlier listing named more transactions, and more than were deleted since. */
async function shorter(db: Client, { readId }: Plan, span: Span): Promise<Incomplete[]> {
  const since = uuid(rememberedBefore(readId));
  const { rows } = await db.query<{ most: number | null }>(`
    SELECT max(e.rows)::float8 AS most FROM source_read r JOIN source_read_end e ON e.read_id = r.id AND e.complete
    WHERE r.source = 'transactions' AND r.id < ${uuid(readId)} AND r.id >= ${since}`);
  const most = rows[0]?.most ?? 0;
  if (most <= span.rows) return [];
  const deletions = await db.query<{ count: number }>(`
    SELECT count(*)::float8 AS count FROM call_state
    WHERE call_id >= ${since} AND operation IN (${DELETING}) AND state IN (${texts([...EXECUTED, ...OPEN])})`);
  const missing = most - span.rows - (deletions.rows[0]?.count ?? 0);
  if (missing <= 0) return [];
  const detail = `The upstream lists ${span.rows} transactions, and listed ${most} before: at least ${missing} are missing. Start the run again later, and ask the upstream why.`;
  return [{ reason: 'listing_shorter', detail }];
}

/** Transactions of findings that nobody has decided about yet: whoever saw them first saw them listed. */
async function lacksKnown(db: Client, { from, to, runId }: Plan): Promise<Incomplete[]> {
  const { rows } = await db.query<{ missing: number }>(`
    SELECT count(*)::float8 AS missing FROM finding f
    CROSS JOIN LATERAL (SELECT s.* FROM finding_sight s WHERE s.finding_id = f.id ORDER BY s.run_id DESC LIMIT 1) AS seen
    JOIN reconciliation_run r ON r.id = seen.run_id LEFT JOIN source_read x ON x.id = r.read_id
    WHERE f.category IN ('missing_local', 'duplicate_upstream') AND f.occurred_at >= ${instant(from)} AND f.occurred_at < ${instant(to)}
      AND f.run_id <> ${uuid(runId)} AND seen.impact_usd <> 0 AND x.source IS DISTINCT FROM 'statement'
      AND coalesce((SELECT s.state FROM finding_step s WHERE s.finding_id = f.id ORDER BY s.id DESC LIMIT 1), 'reopened') = 'reopened'
      AND coalesce(f.upstream_ref, f.upstream_id) IS NOT NULL
      AND NOT EXISTS (SELECT FROM theirs t WHERE t.upstream_ref = f.upstream_ref) AND NOT EXISTS (SELECT FROM theirs t WHERE t.upstream_id = f.upstream_id)`);
  const missing = rows[0]?.missing ?? 0;
  if (missing === 0) return [];
  const detail = `The upstream's listing lacks ${missing} transactions that it showed before, and that are open findings. Start the run again later; if the upstream has taken them back, resolve the findings by hand.`;
  return [{ reason: 'listing_lacks_known', detail }];
}

function rememberedBefore(readId: string): string {
  return uuidFloor(new Date(uuidTime(readId).getTime() - REMEMBERED_MS));
}
