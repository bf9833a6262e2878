import { CHANGING_OPERATIONS } from '../operations/effects';
import { Prisma } from '../platform/database/generated/client';
import { newId } from '../platform/database/ids';
import { PrismaService } from '../platform/database/prisma.service';
import { uuidTime } from '../platform/database/uuid';
import { ENTRIES_CUT } from './findings';
import { insertRun } from './runs';

/** The time whose payments a database may lack, and the run that reads it from the upstream's list. */
export interface LostTime {
  from: Date;
  to: Date;
  runId: string;
}

/** A lost time whose reading is not complete. The result is null while its run has not ended. */
export interface UnreadTime extends LostTime {
  result: string | null;
}

/** A database is not younger than its newest call by more than this: calls are committed late, and clocks differ. */
const MARGIN_MS = 600_000;

/** As long as a run can be. */
const LONGEST_MS = 400 * 86_400_000;

/** No process has this number. Calls that were restored from copies have it. */
export const NO_PROCESS = 0;

/**
 * Begins a run of the time whose payments the database may lack: from its newest call of its own until now.
 * @param since a time from which payments are known to be missing, if that is earlier.
 */
export async function beginReading(
  tx: Prisma.TransactionClient,
  { settings, since }: { settings: object; since: Date | null },
): Promise<LostTime> {
  const [row] = await tx.$queryRaw<[{ now: Date; newest: Date | null; begun: Date; oldest: string | null }]>`
    SELECT date_trunc('milliseconds', clock_timestamp()) AS now, (SELECT min(started_at) FROM epoch) AS begun,
      (SELECT recorded_at FROM intent WHERE process <> ${NO_PROCESS} AND operation = ANY (${[...CHANGING_OPERATIONS]})
       ORDER BY id DESC LIMIT 1) AS newest,
      (SELECT id::text FROM intent ORDER BY id LIMIT 1) AS oldest`;
  const { now: to, newest, begun, oldest } = row;
  // A database that was created anew begins after the payments that it lacks.
  const starts = newest ? [newest] : [begun, ...(oldest === null ? [] : [uuidTime(oldest)])];
  const earliest = Math.min(...[...starts, ...(since ? [since] : [])].map((at) => at.getTime()));
  const from = new Date(Math.max(earliest - MARGIN_MS, to.getTime() - LONGEST_MS));
  const run = { id: newId(), from, to, asOf: to, historical: false, readId: null, settings, dueAt: null };
  await insertRun(tx, { ...run, startedAt: to, by: null });
  return { from, to, runId: run.id };
}

/**
 * The lost times of the epochs after that of a stop which no run has read completely. Such a run began after its epoch did,
 * covers the time, and its listing was whole. So it has seen every payment that was made until then.
 */
export function unreadAfter(stopId: string): Prisma.Sql {
  return Prisma.sql`
    SELECT e.number, e.lost_from AS "from", e.started_at AS "to", e.run_id::text AS "runId",
      (SELECT x.result FROM reconciliation_run_end x WHERE x.run_id = e.run_id) AS result
    FROM epoch e WHERE e.lost_from IS NOT NULL AND e.number > (SELECT epoch FROM stop WHERE id = ${stopId}::uuid)
      AND NOT EXISTS (
        SELECT FROM reconciliation_run r JOIN reconciliation_run_end x ON x.run_id = r.id
        LEFT JOIN source_read s ON s.id = r.read_id
        WHERE r.started_at >= e.started_at AND r.from_at <= e.lost_from AND r.to_at >= e.started_at
          AND NOT r.historical AND s.source IS DISTINCT FROM 'statement' AND x.result NOT IN ('failed', 'incomplete')
          AND NOT EXISTS (
            SELECT FROM json_array_elements(x.totals -> 'incomplete') AS why WHERE why ->> 'reason' <> ${ENTRIES_CUT}))`;
}

/** Returns the newest lost time that keeps a stop from being lifted. */
export async function readUnread(prisma: PrismaService, stopId: string): Promise<UnreadTime | undefined> {
  const [unread] = await prisma.$queryRaw<UnreadTime[]>`${unreadAfter(stopId)} ORDER BY number DESC LIMIT 1`;
  return unread;
}
