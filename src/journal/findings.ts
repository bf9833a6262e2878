import { Client } from 'pg';
import { evidenceSql, RUN_TABLES } from './evidence';
import { recordedAccount } from './recorded-account';
import { FORGET_EXPLAINED, REMEMBER_UNEXPLAINED } from './unexplained-payments';
import { LOCKS } from '../platform/database/locks';

/** The parts of a run that its result depends on. */
interface RunOfFindings {
  runId: string;
  account: string;
  readId: string;
  walletsReadId: string | null;
  from: Date;
  to: Date;
  asOf: Date;
  historical: boolean;
  source: 'upstream' | 'statement';
  settings: { amountToleranceUsd: string };
}

/** A new UUIDv7 (RFC 9562, section 5.7) in any version of Postgres: the time, followed by 74 random bits. */
export const UUID_V7 = `encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  PLACING substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid`;

/** Inserts in the order of the primary key, so that the index grows at its end. */
const MATCHES = `
  INSERT INTO reconciliation_match (run_id, call_id, position, read_id, ordinal, rule, certainty)
  SELECT $1::uuid, o.call_id, o.position, nullif(t.read_id, $2::uuid), t.ordinal, p.rule, p.certainty
  FROM pair p JOIN ours o ON o.n = p.o JOIN theirs t ON t.n = p.t
  WHERE o.in_period ORDER BY o.call_id, o.position`;

const NEW_FINDINGS = `
  INSERT INTO finding (id, account, category, subject, call_id, position, upstream_ref, upstream_id, batch_ref, wallet_id, occurred_at, run_id)
  SELECT ${UUID_V7}, $2, category, subject, call_id, position, upstream_ref, upstream_id, batch_ref, wallet_id, occurred_at, $1::uuid
  FROM (SELECT * FROM difference ORDER BY category, subject) AS d
  ON CONFLICT (category, subject) DO NOTHING`;

const SIGHTS = `
  INSERT INTO finding_sight (id, finding_id, run_id, impact_usd, fields, evidence)
  SELECT ${UUID_V7}, f.id, $1::uuid, d.impact, d.fields, d.evidence
  FROM difference d JOIN finding f ON f.category = d.category AND f.subject = d.subject`;

/**
 * The last step of a finding. It is aggregated, because the planner may read the whole table in order for a LIMIT 1.
 */
const LAST_STEP = `SELECT (array_agg(s.state ORDER BY s.id DESC))[1] AS state, (array_agg(s.impact_usd ORDER BY s.id DESC))[1] AS impact_usd
    FROM finding_step s WHERE s.finding_id = f.id`;

/** Reopens findings that were seen again after they were resolved, or changed after they were explained or accepted. */
const REOPENED = `
  WITH again AS MATERIALIZED (
    SELECT f.id, f.occurred_at, d.impact, s.state, s.impact_usd
    FROM difference d JOIN finding f ON f.category = d.category AND f.subject = d.subject CROSS JOIN LATERAL (${LAST_STEP}) AS s
    WHERE s.state = 'resolved' OR (s.state <> 'reopened' AND s.impact_usd <> d.impact)
  )
  INSERT INTO finding_step (id, finding_id, state, reason, impact_usd, run_id)
  SELECT ${UUID_V7}, id, 'reopened', CASE WHEN state = 'resolved' THEN 'Run ' || $1::uuid || ' sees this difference again.'
    ELSE 'Run ' || $1::uuid || ' sees ' || trim_scale(impact) || ' USD where it was ' || trim_scale(impact_usd) || ' USD when this was ' || state || '.' END,
    impact, $1::uuid
  FROM again WHERE NOT ${outdated('occurred_at')}`;

/**
 * Resolves findings that are no longer seen by a run that would see them: of the same account, the same period and the
 * same kind of source.
 */
const RESOLVED = `
  WITH unseen AS MATERIALIZED (
    SELECT f.id, f.occurred_at FROM finding f
    WHERE f.account IS NOT DISTINCT FROM $4 AND (f.category = 'balance_gap' OR (f.occurred_at >= $5::timestamptz AND f.occurred_at < $6::timestamptz))
      AND (f.category NOT IN ('balance_gap', 'unexplained_debit', 'unexplained_credit') OR f.occurred_at >= (
        SELECT min(entered_at) FROM upstream_wallet_entry e WHERE e.read_id = $7::uuid AND e.wallet_id = f.wallet_id))
      AND NOT EXISTS (SELECT FROM difference d WHERE d.category = f.category AND d.subject = f.subject)
  )
  INSERT INTO finding_step (id, finding_id, state, reason, impact_usd, run_id)
  SELECT ${UUID_V7}, f.id, 'resolved', 'Run ' || $1::uuid || ' no longer sees this difference.', 0, $1::uuid
  FROM unseen f
  CROSS JOIN LATERAL (SELECT run_id FROM finding_sight s WHERE s.finding_id = f.id ORDER BY s.run_id DESC LIMIT 1) AS seen
  JOIN reconciliation_run r ON r.id = seen.run_id
  LEFT JOIN source_read x ON x.id = r.read_id
  CROSS JOIN LATERAL (${LAST_STEP}) AS s
  WHERE (x.source IS NOT DISTINCT FROM 'statement') = ($3 = 'statement') AND s.state IS DISTINCT FROM 'resolved'
    AND NOT ${outdated('f.occurred_at')}`;

/** A later run of the account over the same period has precedence. */
function outdated(at: string): string {
  return `EXISTS (
    SELECT FROM reconciliation_run later JOIN reconciliation_run_end e ON e.run_id = later.id AND e.result <> 'failed'
    LEFT JOIN source_read x ON x.id = later.read_id
    WHERE NOT later.historical AND later.account IS NOT DISTINCT FROM $4 AND later.as_of > $2::timestamptz AND later.from_at <= ${at} AND later.to_at > ${at}
      AND (x.source IS NOT DISTINCT FROM 'statement') = ($3 = 'statement'))`;
}

const END = `
  INSERT INTO reconciliation_run_end (run_id, result, read_id, totals, evidence)
  SELECT $1, $2, $3, $4, ${evidenceSql(RUN_TABLES, '$1::uuid')}`;

/** The totals at the end of a run. */
interface EndTotals {
  findings: { count: number };
  in_doubt: { count: number };
  pending: { count: number };
  ambiguous: { count: number };
  /** Why the listing or the comparison is not reliable. Empty if it is. */
  incomplete?: { reason: string }[];
}

/**
 * The listing is whole, but a busy wallet shows too few entries. What left it before them cannot be checked. Findings
 * about entries that are no longer shown stay open.
 */
export const ENTRIES_CUT = 'entries_start_late';

/**
 * Returns the result of a run. It is clean only if nothing differs, the listing is complete, and nothing is in doubt or
 * unchecked.
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

/**
 * Records the result of a comparison from its temporary tables (`pair`, `ours`, `theirs`, `difference`), all or
 * nothing.
 */
export async function writeResult(db: Client, run: RunOfFindings, totals: EndTotals): Promise<void> {
  const { runId, readId, walletsReadId, from, to, asOf, historical, source, settings } = run;
  await db.query('BEGIN');
  try {
    await db.query(MATCHES, [runId, readId]);
    const account = recordedAccount(run.account);
    await db.query(NEW_FINDINGS, [runId, account]);
    await db.query(SIGHTS, [runId]);
    if (!historical) {
      await db.query('SELECT pg_advisory_xact_lock($1)', [LOCKS.findingStep]);
      const parameters = [runId, asOf, source, account];
      await db.query(REOPENED, parameters);
      // An incomplete listing may lack transactions that exist, so no finding is closed.
      if (isListingWhole(totals.incomplete)) await db.query(RESOLVED, [...parameters, from, to, walletsReadId]);
      if (source === 'upstream') await db.query(REMEMBER_UNEXPLAINED, [settings.amountToleranceUsd]);
      await db.query(FORGET_EXPLAINED);
    }
    await db.query(END, [runId, resultOf(totals), readId, JSON.stringify(totals)]);
    await db.query('COMMIT');
  } catch (error) {
    await db.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
