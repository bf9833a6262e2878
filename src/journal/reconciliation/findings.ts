import { Client } from 'pg';
import { Prisma } from '../../platform/database/generated/client';
import { LOCKS } from '../../platform/database/locks';
import { isRecordOf, recordedAccount } from '../records/accounts';
import { evidenceSql, RUN_TABLES } from './evidence';
import { FORGET_EXPLAINED, rememberUnexplained } from './unexplained-payments';

/** The inputs of a run's result. */
export interface RunOfFindings {
  runId: string;
  /** Upstream account of the compared calls. */
  account: string;
  /** The reading of the upstream, or the statement. */
  readId: string;
  /** The reading of the wallets. Null if it failed. The run then has no findings about wallets. */
  walletsReadId: string | null;
  /** The period, [from, to). */
  from: Date;
  to: Date;
  /** Point in time of the compared records. */
  asOf: Date;
  /** Whether the run changes the state of no finding. */
  historical: boolean;
  source: 'upstream' | 'statement';
  settings: { amountToleranceUsd: string };
}

/** A new UUIDv7 (RFC 9562, section 5.7) in any version of Postgres: the time, followed by 74 random bits. */
export const UUID_V7 = Prisma.sql`encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  PLACING substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1
    FOR 6), 52, 1), 53, 1), 'hex')::uuid`;

/** Inserts in primary key order, so the index grows at its end. */
const insertMatches = ({ runId, readId }: RunOfFindings) => Prisma.sql`
  INSERT INTO reconciliation_match (run_id, call_id, position, read_id, ordinal, rule, certainty)
  SELECT ${runId}::uuid, o.call_id, o.position, nullif(t.read_id, ${readId}::uuid), t.ordinal,
    p.rule, p.certainty
  FROM pair p JOIN ours o ON o.n = p.o JOIN theirs t ON t.n = p.t
  WHERE o.in_period ORDER BY o.call_id, o.position`;

const insertFindings = ({ runId, account }: RunOfFindings) => Prisma.sql`
  INSERT INTO finding (id, account, category, subject, call_id, position, upstream_ref, upstream_id,
    batch_ref, wallet_id, occurred_at, run_id)
  SELECT ${UUID_V7}, ${recordedAccount(account)}::text, category, subject, call_id, position, upstream_ref,
    upstream_id, batch_ref, wallet_id, occurred_at, ${runId}::uuid
  FROM (SELECT * FROM difference ORDER BY category, subject) AS d
  ON CONFLICT (category, subject) DO NOTHING`;

const insertSights = ({ runId }: RunOfFindings) => Prisma.sql`
  INSERT INTO finding_sight (id, finding_id, run_id, impact_usd, fields, evidence)
  SELECT ${UUID_V7}, f.id, ${runId}::uuid, d.impact, d.fields, d.evidence
  FROM difference d JOIN finding f ON f.category = d.category AND f.subject = d.subject`;

/** The last step of a finding. Aggregated, because the planner may read the whole table for a LIMIT 1. */
const LAST_STEP = Prisma.sql`SELECT (array_agg(s.state ORDER BY s.id DESC))[1] AS state,
  (array_agg(s.impact_usd ORDER BY s.id DESC))[1] AS impact_usd
    FROM finding_step s WHERE s.finding_id = f.id`;

/** Reopens resolved findings that were seen again, and explained or accepted findings that changed. */
const reopen = (run: RunOfFindings) => Prisma.sql`
  WITH again AS MATERIALIZED (
    SELECT f.id, f.occurred_at, d.impact, s.state, s.impact_usd
    FROM difference d JOIN finding f ON f.category = d.category AND f.subject = d.subject
      CROSS JOIN LATERAL (${LAST_STEP}) AS s
    WHERE s.state = 'resolved' OR (s.state <> 'reopened' AND s.impact_usd <> d.impact)
  )
  INSERT INTO finding_step (id, finding_id, state, reason, impact_usd, run_id)
  SELECT ${UUID_V7}, id, 'reopened', 'Run ' || ${run.runId}::uuid || CASE
      WHEN state = 'resolved' THEN ' sees this difference again.'
      ELSE ' sees ' || trim_scale(impact) || ' USD where it was ' || trim_scale(impact_usd)
        || ' USD when this was ' || state || '.' END,
    impact, ${run.runId}::uuid
  FROM again f WHERE NOT ${outdated(run)}`;

/** Resolves findings that this run no longer sees, of its account, period and kind of source. */
const resolve = (run: RunOfFindings) => Prisma.sql`
  WITH unseen AS MATERIALIZED (
    SELECT f.id, f.occurred_at FROM finding f
    WHERE ${isRecordOf('f.account', run.account)}
      AND (f.category = 'balance_gap'
        OR (f.occurred_at >= ${run.from}::timestamptz AND f.occurred_at < ${run.to}::timestamptz))
      AND (f.category NOT IN ('balance_gap', 'unexplained_debit', 'unexplained_credit') OR f.occurred_at >= (
        SELECT min(entered_at) FROM upstream_wallet_entry e
        WHERE e.read_id = ${run.walletsReadId}::uuid AND e.wallet_id = f.wallet_id))
      AND NOT EXISTS (SELECT FROM difference d WHERE d.category = f.category AND d.subject = f.subject)
  )
  INSERT INTO finding_step (id, finding_id, state, reason, impact_usd, run_id)
  SELECT ${UUID_V7}, f.id, 'resolved', 'Run ' || ${run.runId}::uuid || ' no longer sees this difference.', 0,
    ${run.runId}::uuid
  FROM unseen f
  CROSS JOIN LATERAL (
    SELECT run_id FROM finding_sight s WHERE s.finding_id = f.id ORDER BY s.run_id DESC LIMIT 1) AS seen
  JOIN reconciliation_run r ON r.id = seen.run_id
  LEFT JOIN source_read x ON x.id = r.read_id
  CROSS JOIN LATERAL (${LAST_STEP}) AS s
  WHERE ${isOfSameSource(run)} AND s.state IS DISTINCT FROM 'resolved' AND NOT ${outdated(run)}`;

/** A later run of the account over the time of a finding `f` has precedence. */
function outdated(run: RunOfFindings): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT FROM reconciliation_run later JOIN reconciliation_run_end e ON e.run_id = later.id
      AND e.result <> 'failed'
    LEFT JOIN source_read x ON x.id = later.read_id
    WHERE NOT later.historical AND ${isRecordOf('later.account', run.account)}
      AND later.as_of > ${run.asOf}::timestamptz
      AND later.from_at <= f.occurred_at AND later.to_at > f.occurred_at AND ${isOfSameSource(run)})`;
}

/** Whether a read `x` is of the same kind of source. */
function isOfSameSource({ source }: RunOfFindings): Prisma.Sql {
  return Prisma.sql`(x.source IS NOT DISTINCT FROM 'statement') = (${source} = 'statement')`;
}

const insertEnd = ({ runId, readId }: RunOfFindings, totals: EndTotals) => Prisma.sql`
  INSERT INTO reconciliation_run_end (run_id, result, read_id, totals, evidence)
  SELECT run.id, ${resultOf(totals)}, ${readId}::uuid, ${JSON.stringify(totals)}::json,
    ${Prisma.raw(evidenceSql(RUN_TABLES, 'run.id'))}
  FROM (SELECT ${runId}::uuid AS id) AS run`;

/** The totals at the end of a run. */
interface EndTotals {
  findings: { count: number };
  in_doubt: { count: number };
  pending: { count: number };
  ambiguous: { count: number };
  /** Reasons why the listing or the comparison is unreliable. Empty if reliable. */
  incomplete?: { reason: string }[];
}

/**
 * The listing is complete, but a busy wallet shows too few entries. Earlier movements cannot be checked.
 * Findings about hidden entries stay open.
 */
export const ENTRIES_CUT = 'entries_start_late';

/**
 * Returns the result of a run. It is clean only if nothing differs, the listing is complete, and nothing is
 * in doubt or unchecked.
 */
function resultOf({ findings, in_doubt: doubt, pending, ambiguous, incomplete = [] }: EndTotals): string {
  if (findings.count > 0) return 'findings';
  if (!isListingWhole(incomplete)) return 'incomplete';
  const isDoubtful = incomplete.length > 0 || doubt.count + pending.count + ambiguous.count > 0;
  return isDoubtful ? 'clean_with_doubts' : 'clean';
}

function isListingWhole(incomplete: { reason: string }[] = []): boolean {
  return incomplete.every(({ reason }) => reason === ENTRIES_CUT);
}

/** Records the result of a comparison from its temporary tables (`pair`, `ours`, `theirs`, `difference`). */
export async function writeResult(db: Client, run: RunOfFindings, totals: EndTotals): Promise<void> {
  await db.query('BEGIN');
  try {
    await db.query(insertMatches(run));
    await db.query(insertFindings(run));
    await db.query(insertSights(run));
    if (!run.historical) {
      await db.query(Prisma.sql`SELECT pg_advisory_xact_lock(${LOCKS.findingStep})`);
      await db.query(reopen(run));
      // An incomplete listing may lack existing transactions, so no finding is closed.
      if (isListingWhole(totals.incomplete)) await db.query(resolve(run));
      if (run.source === 'upstream') await db.query(rememberUnexplained(run.settings.amountToleranceUsd));
      await db.query(FORGET_EXPLAINED);
    }
    await db.query(insertEnd(run, totals));
    await db.query('COMMIT');
  } catch (error) {
    await db.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
