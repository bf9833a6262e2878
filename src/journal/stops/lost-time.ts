import { CHANGING_OPERATIONS } from '../../operations/items/effects';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { uuidTime } from '../../platform/database/uuid';
import { ENTRIES_CUT } from '../reconciliation/findings';
import { insertRun } from '../reconciliation/reconciliations';
import { endCredentials } from '../../access/callers/end-credentials';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { proseAsRecorded } from '../../platform/privacy/recorded';
import { insertion } from '../records/document-sql';

/** The time whose payments a database may lack, and the runs that read it from the upstream's lists. */
export interface LostTime {
  from: Date;
  to: Date;
  /** The run of the account `main`. */
  runId: string;
  /** The runs of the other accounts. */
  otherRuns: string[];
}

/** A lost time whose reading is not complete for an account. The result is null while its run has not ended. */
export interface UnreadTime {
  from: Date;
  to: Date;
  account: string;
  /** Null if no run was begun with the epoch, because nobody knew the account. */
  runId: string | null;
  result: string | null;
}

/** A lost time, and the accounts whose lists may have payments of it. */
interface Reading {
  settings: object;
  since: Date | null;
  /** The configured accounts. Those of clients are added. */
  accounts: readonly string[];
}

/** A database is not younger than its newest call by more than this: calls are committed late, and clocks differ. */
const MARGIN_MS = 600_000;

/** As long as a run can be. */
const LONGEST_MS = 400 * 86_400_000;

/** No process has this number. Calls that were restored from copies have it. */
export const NO_PROCESS = 0;

/**
 * Begins a run of each account over the time whose payments the database may lack: from its newest call of its own until
 * now.
 * @param since a time from which payments are known to be missing, if that is earlier.
 */
async function beginReading(tx: Prisma.TransactionClient, { settings, since, accounts }: Reading): Promise<LostTime> {
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
  const known = await tx.$queryRaw<{ account: string }[]>`SELECT DISTINCT account FROM client`;
  const others = new Set([...accounts, ...known.map(({ account }) => account)].filter((name) => name !== MAIN_ACCOUNT));
  const begin = async (account: string) => {
    const run = { id: newId(), account, from, to, asOf: to, historical: false, readId: null, settings, dueAt: null };
    await insertRun(tx, { ...run, startedAt: to, by: null });
    return run.id;
  };
  const runId = await begin(MAIN_ACCOUNT);
  const otherRuns: string[] = [];
  for (const account of others) otherRuns.push(await begin(account));
  return { from, to, runId, otherRuns };
}

/**
 * The lost times of the epochs after that of a stop which no run has read completely, by account. Such a run began after
 * its epoch did, covers the time, and its listing was whole. So it has seen every payment that was made until then.
 */
export function unreadAfter(stopId: string): Prisma.Sql {
  return Prisma.sql`
    SELECT e.number, e.lost_from AS "from", e.started_at AS "to", coalesce(a.account, ${MAIN_ACCOUNT}) AS account, begun.id::text AS "runId",
      (SELECT x.result FROM reconciliation_run_end x WHERE x.run_id = begun.id) AS result
    FROM epoch e
    CROSS JOIN LATERAL (
      SELECT nullif(account, ${MAIN_ACCOUNT}) AS account FROM client WHERE created_at < e.started_at
      UNION SELECT account FROM reconciliation_run WHERE started_at = e.started_at AND from_at = e.lost_from
      UNION SELECT NULL) AS a
    CROSS JOIN LATERAL (SELECT CASE WHEN a.account IS NULL THEN e.run_id ELSE (
      SELECT id FROM reconciliation_run WHERE account = a.account AND started_at = e.started_at AND from_at = e.lost_from) END AS id) AS begun
    WHERE e.lost_from IS NOT NULL AND e.number > (SELECT epoch FROM stop WHERE id = ${stopId}::uuid)
      AND NOT EXISTS (
        SELECT FROM reconciliation_run r JOIN reconciliation_run_end x ON x.run_id = r.id
        LEFT JOIN source_read s ON s.id = r.read_id
        WHERE r.account IS NOT DISTINCT FROM a.account AND r.started_at >= e.started_at AND r.from_at <= e.lost_from AND r.to_at >= e.started_at
          AND NOT r.historical AND s.source IS DISTINCT FROM 'statement' AND x.result NOT IN ('failed', 'incomplete')
          AND NOT EXISTS (
            SELECT FROM json_array_elements(x.totals -> 'incomplete') AS why WHERE why ->> 'reason' <> ${ENTRIES_CUT}))`;
}

/** Returns the newest lost time that keeps a stop from being lifted. */
export async function readUnread(
  prisma: Pick<Prisma.TransactionClient, '$queryRaw'>,
  stopId: string,
): Promise<UnreadTime | undefined> {
  const [unread] = await prisma.$queryRaw<UnreadTime[]>`${unreadAfter(stopId)} ORDER BY number DESC, account LIMIT 1`;
  return unread;
}

/** Sessions of many people end with it. */
const LIMITS = { maxWait: 5_000, timeout: 60_000 };

/** What `database recover` says when it begins an epoch. */
interface NewEpoch {
  reason: string;
  actor: string | null;
  /** The newest epoch that an instance has seen. A database that came back a second time does not know its number. */
  seen: number;
  /** How to read the payments that no copy has from the upstream's list. Undefined: none are missing. */
  reading?: Parameters<typeof beginReading>[1];
}

/** An epoch that has begun. */
interface Epoch {
  number: number;
  lost: LostTime | null;
}

/**
 * Begins the next epoch: instances take what the database has now as its state. A person may lift the stop once the lost
 * time was read from the upstream's list. In the same transaction, a run begins to read it, and everybody has to sign in again.
 */
export async function beginEpoch(prisma: PrismaService, { reason, actor, seen, reading }: NewEpoch): Promise<Epoch> {
  return prisma.$transaction(async (tx) => {
    const lost = reading ? await beginReading(tx, reading) : null;
    const [row] = await tx.$queryRaw<[{ number: number; at: Date }]>`
      INSERT INTO epoch (number, reason, started_at, moved_at, lost_from, run_id)
      SELECT greatest(max(number), ${seen}::integer) + 1, ${proseAsRecorded(reason)},
        coalesce(${lost?.to}::timestamptz, clock_timestamp()), clock_timestamp(), ${lost?.from}::timestamptz, ${lost?.runId}::uuid
      FROM epoch RETURNING number, started_at AS at`;
    await endCredentials(tx, row.at);
    const act = {
      id: newId(),
      action: 'database_recovered',
      after: '{}',
      via: 'cli',
      actor,
      reason: proseAsRecorded(`Epoch ${row.number}: ${reason}`),
    };
    await tx.$executeRaw(insertion('activity', [act]));
    return { number: row.number, lost };
  }, LIMITS);
}
