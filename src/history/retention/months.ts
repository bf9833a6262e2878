import { Client } from 'pg';
import { uuidFloor } from '../../platform/database/uuid';

/** A month (UTC) of the records. */
export interface Month {
  /** `2026-11`. */
  name: string;
  /** Range of its call IDs. `to` is excluded. */
  from: string;
  to: string;
}

/** Tables that are partitioned by the month of the call, people's tables first. */
export const PEOPLE_TABLES = ['intent_body', 'outcome_body', 'refusal_key'] as const;
export const CALL_TABLES = [...PEOPLE_TABLES, 'intent', 'outcome', 'refusal'] as const;

/** Source rows and matches, partitioned by the month of the read or the run. */
export const EVIDENCE_TABLES = ['upstream_transaction', 'reconciliation_match'] as const;

export type PartitionedTable = (typeof CALL_TABLES)[number] | (typeof EVIDENCE_TABLES)[number];

/** Minimum age in days. Idempotency keys are kept for at least 30 days. */
export const MIN_DAYS = 31;

/**
 * Returns the instant before which a month must have ended.
 * @param age `400d` or `13mo`.
 * @returns undefined for another format, or for an age below MIN_DAYS.
 */
export function endsBefore(age: string, now: Date): Date | undefined {
  const [, number, unit] = /^(\d{1,5})(d|mo)$/.exec(age) ?? [];
  if (number === undefined) return undefined;
  const before = new Date(now);
  if (unit === 'd') before.setUTCDate(before.getUTCDate() - Number(number));
  else setMonth(before, -Number(number));
  const youngest = new Date(now.getTime() - MIN_DAYS * 86_400_000);
  return before <= youngest ? before : undefined;
}

/** Adds months and keeps the day, unless the month is too short. */
function setMonth(at: Date, months: number): void {
  const day = at.getUTCDate();
  at.setUTCDate(1);
  at.setUTCMonth(at.getUTCMonth() + months);
  at.setUTCDate(Math.min(day, new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()));
}

export function monthOf(name: string): Month {
  const first = new Date(`${name}-01T00:00:00Z`);
  const next = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1));
  return { name, from: uuidFloor(first), to: uuidFloor(next) };
}

export function partitionOf(table: PartitionedTable, { name }: Month): string {
  return `${table}_${name.replace('-', '_')}`;
}

/** Returns the whole months before an instant that have rows or a partition, oldest first. */
export async function monthsBefore(
  db: Client,
  before: Date,
  tables: readonly PartitionedTable[],
): Promise<Month[]> {
  const limit = new Date(Date.UTC(before.getUTCFullYear(), before.getUTCMonth(), 1));
  const times = tables.map((table) => TIMES(table)).join(' UNION ALL ');
  const { rows } = await db.query<{ name: string }>(
    `SELECT DISTINCT replace(right(inhrelid::regclass::text, 7), '_', '-') AS name FROM pg_inherits
     WHERE inhparent = ANY ($1::regclass[]) AND inhrelid::regclass::text ~ '_\\d{4}_\\d{2}$'
     UNION SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM') FROM (${times}) AS t
     ORDER BY 1`,
    [tables],
  );
  return rows.map(({ name }) => monthOf(name)).filter(({ to }) => to <= uuidFloor(limit));
}

/**
 * Selects the times of rows without a partition, which are in the default one: kept calls of earlier months,
 * and rows older than the proxy.
 */
const TIMES = (table: PartitionedTable) => {
  const hex = `left(replace(${idOf(table)}::text, '-', ''), 12)`;
  return `SELECT to_timestamp(('x' || ${hex})::bit(48)::bigint / 1000.0) AS at FROM ${table}_default`;
};

/** Returns the column with the ID of the call, the read or the run. */
export function idOf(table: PartitionedTable): 'id' | 'intent_id' | 'refusal_id' | 'read_id' | 'run_id' {
  if (table === 'upstream_transaction') return 'read_id';
  if (table === 'reconciliation_match') return 'run_id';
  if (table === 'refusal_key') return 'refusal_id';
  return table === 'intent' || table === 'refusal' ? 'id' : 'intent_id';
}
