import { all } from '../../history/search/matching';
import {
  comparesRecipients,
  findingNow,
  FindingState,
  isVisible,
} from '../../journal/reconciliation/finding-steps';
import { isRecordOf } from '../../journal/records/accounts';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { AgeName, AGES } from './ageing';
import { Category, ofSeverity } from './categories';
import { FindingEvidence, FindingRecord, FindingSelection, FindingSight, FindingStep } from './findings.dto';

/** A decision, with its time as text, because JSON has no times. */
export type StepRow = Omit<FindingStep, 'decided_at'> & { decided_at: string };

/** A finding in its current state, with the values of its latest observation. */
export interface FindingRow extends Omit<
  FindingRecord,
  'severity' | 'title' | 'suggested_action' | 'last_step' | 'version'
> {
  last_step: StepRow | null;
  /** Impact in the latest run. It differs if `impact_usd` is from an earlier run. */
  now_usd: string;
  evidence: FindingEvidence;
  /** Whether the run compares recipients. Its findings then reveal payments to a person. */
  compares_people: boolean;
}

/** Filters for a selection of findings, or the ID of one. */
export type FindingFilters = FindingSelection & { id?: string };

/** A query for findings, and the reader's permission. */
interface FindingQuery {
  filters: FindingFilters;
  /** False omits findings that only comparisons of recipients observed. */
  seesPeople: boolean;
}

/** States that await a decision. */
export const WAITING = ['open', 'reopened'];

const STATE = Prisma.sql`coalesce(step.state, 'open')`;

const AGE_DAYS = Prisma.sql`
  greatest(0, floor(extract(epoch FROM clock_timestamp() - f.found_at) / 86400))::integer`;

/** A decision `step` as JSON. */
const STEP = Prisma.sql`json_build_object('id', step.id, 'state', step.state, 'reason', step.reason,
  'impact_usd', trim_scale(step.impact_usd)::text, 'run_id', step.run_id, 'client_id', step.client_id,
  'key_id', step.key_id, 'actor', step.actor, 'decided_at', step.decided_at)`;

const COLUMNS = Prisma.sql`
  f.id::text, coalesce(f.account, ${MAIN_ACCOUNT}) AS account, f.category, f.subject,
  f.call_id::text, f.position, f.upstream_ref, f.upstream_id, f.batch_ref, f.wallet_id,
  f.occurred_at, f.found_at, f.run_id::text AS found_by, ${STATE} AS state,
  CASE WHEN ${STATE} = ANY (${WAITING}::text[]) THEN ${AGE_DAYS} END AS age_days,
  CASE WHEN step.id IS NOT NULL THEN ${STEP} END AS last_step,
  trim_scale(sight.impact_usd)::text AS now_usd`;

const observationColumns = (sight: 'sight' | 'own') => {
  const own = Prisma.raw(sight);
  return Prisma.sql`
  trim_scale(${own}.impact_usd)::text AS impact_usd, ${own}.fields, ${own}.evidence, ${own}.seen_at,
  ${own}.run_id::text AS seen_by, ${comparesRecipients(`${sight}.run_id`)} AS compares_people`;
};

/**
 * Reads findings with the values of their latest observation, newest first.
 * @param before upper limit of the IDs, excluded.
 */
export async function readFindings(
  prisma: ReaderPrisma,
  { filters, seesPeople }: FindingQuery,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<FindingRow[]> {
  const conditions = [
    ...conditionsOf(filters, seesPeople),
    ...(before === undefined ? [] : [Prisma.sql`f.id < ${before}::uuid`]),
  ];
  return prisma.readLong<FindingRow>(Prisma.sql`
    SELECT ${COLUMNS}, ${observationColumns('sight')} FROM finding f ${findingNow(seesPeople)}
    WHERE ${all(conditions)} ORDER BY f.id DESC LIMIT ${limit}`);
}

/** Counts findings, and returns whether any of them reveals a payment to a person. */
export async function countFindings(
  prisma: ReaderPrisma,
  { filters, seesPeople }: FindingQuery,
): Promise<{ count: number; comparesPeople: boolean }> {
  const [row] = await prisma.readLong<{ count: number; comparesPeople: boolean }>(Prisma.sql`
    SELECT count(*)::float8 AS count,
      coalesce(bool_or(${comparesRecipients('sight.run_id')}), FALSE) AS "comparesPeople"
    FROM finding f ${findingNow(seesPeople)}
    WHERE ${all(conditionsOf(filters, seesPeople))}`);
  return row ?? { count: 0, comparesPeople: false };
}

/**
 * Reads a run's findings as it observed them, in the order of their IDs.
 * @param after lower limit of the IDs, excluded.
 */
export async function readObservationsOfRun(
  prisma: ReaderPrisma,
  runId: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<FindingRow[]> {
  const beyond = after === undefined ? Prisma.sql`TRUE` : Prisma.sql`own.finding_id > ${after}::uuid`;
  return prisma.readLong<FindingRow>(Prisma.sql`
    SELECT ${COLUMNS}, ${observationColumns('own')}
    FROM (
      SELECT * FROM finding_sight own
      WHERE own.run_id = ${runId}::uuid AND ${beyond}
      ORDER BY own.finding_id LIMIT ${limit}
    ) AS own
    -- OFFSET 0 makes the planner look up each finding by its key.
    CROSS JOIN LATERAL (SELECT * FROM finding WHERE id = own.finding_id OFFSET 0) AS f
    ${findingNow(true)}
    ORDER BY own.finding_id`);
}

/** Reads a run's findings of one category as it observed them, largest differences first. */
export async function readLargestOfRun(
  prisma: ReaderPrisma,
  runId: string,
  category: Category,
  limit: number,
): Promise<FindingRow[]> {
  return prisma.readLong<FindingRow>(Prisma.sql`
    SELECT ${COLUMNS}, ${observationColumns('own')}
    FROM (
      SELECT own.* FROM finding_sight own JOIN finding f ON f.id = own.finding_id
      WHERE own.run_id = ${runId}::uuid AND f.category = ${category}
      ORDER BY abs(own.impact_usd) DESC, f.occurred_at, f.id LIMIT ${limit}
    ) AS own JOIN finding f ON f.id = own.finding_id ${findingNow(true)}
    ORDER BY abs(own.impact_usd) DESC, f.occurred_at, f.id`);
}

/** Counts a run's findings by their current state. */
export async function readStatesOfRun(prisma: ReaderPrisma, runId: string): Promise<Record<string, number>> {
  const rows = await prisma.readLong<{ state: FindingState; count: number }>(Prisma.sql`
    SELECT coalesce(step.state, 'open') AS state, count(*)::float8 AS count FROM finding_sight own
    LEFT JOIN LATERAL (
      SELECT state FROM finding_step WHERE finding_id = own.finding_id
      ORDER BY decided_at DESC, id DESC LIMIT 1
    ) AS step ON TRUE
    WHERE own.run_id = ${runId}::uuid GROUP BY 1 ORDER BY 1`);
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

/**
 * Sums the findings that await a decision, by age.
 * @param filters limits the selection.
 */
export async function sumAges(
  prisma: ReaderPrisma,
  filters: Pick<FindingFilters, 'account'> = {},
): Promise<{ age: AgeName; count: number; usd: string }[]> {
  return prisma.readLong(Prisma.sql`
    SELECT a.name AS age, count(days)::float8 AS count,
      coalesce(trim_scale(sum(abs(impact_usd))), 0)::text AS usd
    FROM json_to_recordset(${JSON.stringify(AGES)}::json) AS a(name text, "from" integer, "to" integer)
    LEFT JOIN (
      SELECT ${AGE_DAYS} AS days, sight.impact_usd
      FROM finding f ${findingNow(true)} WHERE ${all(conditionsOf(filters, true))}
    ) AS waiting ON days BETWEEN a."from" AND coalesce(a."to", days)
    GROUP BY a.name, a."from" ORDER BY a."from"`);
}

function conditionsOf(filters: FindingFilters, seesPeople: boolean): Prisma.Sql[] {
  const { state, category, severity, run_id: run, call_id: call, from, to } = filters;
  const { min_age_days: least, max_age_days: most } = filters;
  return [
    ...(filters.id === undefined ? [] : [Prisma.sql`f.id = ${filters.id}::uuid`]),
    ...(filters.account === undefined ? [] : [isRecordOf('f.account', filters.account)]),
    ...(state === 'any'
      ? []
      : [Prisma.sql`${STATE} = ANY (${state === undefined ? WAITING : [state]}::text[])`]),
    ...(category === undefined ? [] : [Prisma.sql`f.category = ${category}`]),
    ...(severity === undefined ? [] : [Prisma.sql`f.category = ANY (${ofSeverity(severity)}::text[])`]),
    ...(run === undefined ? [] : [isObservedIn(run, seesPeople)]),
    ...(call === undefined ? [] : [Prisma.sql`f.call_id = ${call}::uuid`]),
    ...(from === undefined ? [] : [Prisma.sql`f.occurred_at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [Prisma.sql`f.occurred_at < ${to}::timestamptz`]),
    ...(least === undefined ? [] : [Prisma.sql`f.found_at <= ${daysAgo(least)}`]),
    ...(most === undefined ? [] : [Prisma.sql`f.found_at > ${daysAgo(most + 1)}`]),
  ];
}

function isObservedIn(runId: string, seesPeople: boolean): Prisma.Sql {
  return Prisma.sql`EXISTS (SELECT FROM finding_sight s
    WHERE s.finding_id = f.id AND s.run_id = ${runId}::uuid AND ${isVisible(seesPeople, 's.run_id')})`;
}

function daysAgo(days: number): Prisma.Sql {
  return Prisma.sql`clock_timestamp() - make_interval(days => ${days}::integer)`;
}

/** A finding as one run observed it, and whether the run compares recipients. */
export type ObservationRow = FindingSight & { compares_people: boolean };

/** Reads the newest observations of a finding, and their total number. */
export async function readObservations(
  prisma: ReaderPrisma,
  { id, seesPeople }: { id: string; seesPeople: boolean },
  limit: number,
): Promise<{ rows: ObservationRow[]; count: number }> {
  const [rows, [counted]] = await Promise.all([
    prisma.$queryRaw<ObservationRow[]>`
      SELECT s.run_id::text, s.seen_at, r.historical, trim_scale(s.impact_usd)::text AS impact_usd,
        s.fields, s.evidence, ${comparesRecipients('s.run_id')} AS compares_people
      FROM finding_sight s JOIN reconciliation_run r ON r.id = s.run_id
      WHERE s.finding_id = ${id}::uuid AND ${isVisible(seesPeople, 's.run_id')}
      ORDER BY s.id DESC LIMIT ${limit}`,
    prisma.$queryRaw<{ count: number }[]>`
      SELECT count(*)::float8 AS count FROM finding_sight s
      WHERE s.finding_id = ${id}::uuid AND ${isVisible(seesPeople, 's.run_id')}`,
  ]);
  return { rows, count: counted?.count ?? 0 };
}

/** Reads the decisions of a finding, oldest first. */
export async function readSteps(prisma: ReaderPrisma, id: string): Promise<StepRow[]> {
  const rows = await prisma.$queryRaw<{ step: StepRow }[]>`
    SELECT ${STEP} AS step FROM finding_step step
    WHERE finding_id = ${id}::uuid ORDER BY decided_at, id`;
  return rows.map(({ step }) => step);
}

/** Returns whether a run compares recipients that a statement names. */
export async function readComparesPeople(prisma: ReaderPrisma, runId: string): Promise<boolean> {
  const [row] = await prisma.$queryRaw<{ compares: boolean }[]>`
    SELECT ${comparesRecipients('r.id')} AS compares FROM reconciliation_run r WHERE r.id = ${runId}::uuid`;
  return row?.compares ?? false;
}
