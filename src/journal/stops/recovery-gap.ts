import { endCredentials } from '../../access/callers/end-credentials';
import { CHANGING_OPERATIONS } from '../../operations/items/effects';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { uuidTime } from '../../platform/database/uuid';
import { proseAsRecorded } from '../../platform/privacy/recorded';
import { ENTRIES_CUT } from '../reconciliation/findings';
import { insertRun } from '../reconciliation/reconciliations';
import { insertion } from '../records/document-sql';

/** The period whose payments a database may lack, and the runs that read it from the upstream's lists. */
export interface RecoveryGap {
  from: Date;
  to: Date;
  /** The run of the account `main`. */
  runId: string;
  /** The runs of the other accounts. */
  otherRuns: string[];
}

/** A recovery gap that is not fully read for an account. The result is null until its run ends. */
export interface UnreadGap {
  from: Date;
  to: Date;
  account: string;
  /** Null if no run began with the epoch, because the account was not known. */
  runId: string | null;
  result: string | null;
}

/** A recovery gap, and the accounts whose lists may have its payments. */
interface GapSearch {
  settings: object;
  since: Date | null;
  /** The configured accounts. The accounts of clients are added. */
  accounts: readonly string[];
}

/** Margin in ms: calls are committed late, and clocks differ. */
const MARGIN_MS = 600_000;

/** Longest period of a run. */
const LONGEST_MS = 400 * 86_400_000;

/** Process number of calls that were restored from copies. No process has it. */
export const NO_PROCESS = 0;

/**
 * Begins a run of each account over the period whose payments the database may lack: from its newest own call
 * until now.
 * @param since an earlier time from which payments are known to be missing.
 */
async function beginReading(
  tx: Prisma.TransactionClient,
  { settings, since, accounts }: GapSearch,
): Promise<RecoveryGap> {
  const [row] = await tx.$queryRaw<[{ now: Date; newest: Date | null; begun: Date; oldest: string | null }]>`
    SELECT date_trunc('milliseconds', clock_timestamp()) AS now, (SELECT min(started_at) FROM epoch) AS begun,
      (SELECT recorded_at FROM intent
       WHERE process <> ${NO_PROCESS} AND operation = ANY (${[...CHANGING_OPERATIONS]})
       ORDER BY id DESC LIMIT 1) AS newest,
      (SELECT id::text FROM intent ORDER BY id LIMIT 1) AS oldest`;
  const { now: to, newest, begun, oldest } = row;
  // A newly created database begins after the payments that it lacks.
  const starts = newest ? [newest] : [begun, ...(oldest === null ? [] : [uuidTime(oldest)])];
  const earliest = Math.min(...[...starts, ...(since ? [since] : [])].map((at) => at.getTime()));
  const from = new Date(Math.max(earliest - MARGIN_MS, to.getTime() - LONGEST_MS));
  const known = await tx.$queryRaw<{ account: string }[]>`SELECT DISTINCT account FROM client`;
  const others = new Set(
    [...accounts, ...known.map(({ account }) => account)].filter((name) => name !== MAIN_ACCOUNT),
  );
  const begin = async (account: string) => {
    const run = {
      id: newId(),
      account,
      from,
      to,
      asOf: to,
      historical: false,
      readId: null,
      settings,
      dueAt: null,
    };
    await insertRun(tx, { ...run, startedAt: to, by: null });
    return run.id;
  };
  const runId = await begin(MAIN_ACCOUNT);
  const otherRuns: string[] = [];
  for (const account of others) otherRuns.push(await begin(account));
  return { from, to, runId, otherRuns };
}

/**
 * The lost times of the epochs after that of a stop, by account, that no run has read completely. A complete
 * run began after its epoch, covers the period and has a complete listing. It has seen every payment.
 */
export function unreadAfter(stopId: string): Prisma.Sql {
  return Prisma.sql`
    SELECT e.number, e.lost_from AS "from", e.started_at AS "to",
      coalesce(a.account, ${MAIN_ACCOUNT}) AS account, begun.id::text AS "runId",
      (SELECT x.result FROM reconciliation_run_end x WHERE x.run_id = begun.id) AS result
    FROM epoch e
    CROSS JOIN LATERAL (
      SELECT nullif(account, ${MAIN_ACCOUNT}) AS account FROM client WHERE created_at < e.started_at
      UNION SELECT account FROM reconciliation_run WHERE started_at = e.started_at AND from_at = e.lost_from
      UNION SELECT NULL) AS a
    CROSS JOIN LATERAL (SELECT CASE WHEN a.account IS NULL THEN e.run_id ELSE (
      SELECT id FROM reconciliation_run WHERE account = a.account AND started_at = e.started_at
        AND from_at = e.lost_from) END AS id) AS begun
    WHERE e.lost_from IS NOT NULL AND e.number > (SELECT epoch FROM stop WHERE id = ${stopId}::uuid)
      AND NOT EXISTS (
        SELECT FROM reconciliation_run r JOIN reconciliation_run_end x ON x.run_id = r.id
        LEFT JOIN source_read s ON s.id = r.read_id
        WHERE r.account IS NOT DISTINCT FROM a.account AND r.started_at >= e.started_at
          AND r.from_at <= e.lost_from AND r.to_at >= e.started_at
          AND NOT r.historical AND s.source IS DISTINCT FROM 'statement'
          AND x.result NOT IN ('failed', 'incomplete')
          AND NOT EXISTS (
            SELECT FROM json_array_elements(x.totals -> 'incomplete') AS why
            WHERE why ->> 'reason' <> ${ENTRIES_CUT}))`;
}

/** Returns the newest recovery gap that blocks the lift of a stop. */
export async function readUnread(
  prisma: Pick<Prisma.TransactionClient, '$queryRaw'>,
  stopId: string,
): Promise<UnreadGap | undefined> {
  const [unread] = await prisma.$queryRaw<
    UnreadGap[]
  >`${unreadAfter(stopId)} ORDER BY number DESC, account LIMIT 1`;
  return unread;
}

/** It ends the sessions of many people. */
const LIMITS = { maxWait: 5_000, timeout: 60_000 };

/** Inputs of `database recover` for a new epoch. */
interface NewEpoch {
  reason: string;
  actor: string | null;
  /** The newest epoch that an instance has seen. A database that was restored twice lacks its number. */
  seen: number;
  /** The reading of payments that no copy has, from the upstream's list. Undefined if none are missing. */
  reading?: Parameters<typeof beginReading>[1];
}

/** A new epoch. */
interface Epoch {
  number: number;
  lost: RecoveryGap | null;
}

/**
 * Begins the next epoch: instances accept the database's current state. A person may lift the stop once the
 * recovery gap was read from the upstream's list. The transaction begins a run for it and ends all sessions.
 */
export async function beginEpoch(
  prisma: PrismaService,
  { reason, actor, seen, reading }: NewEpoch,
): Promise<Epoch> {
  return prisma.$transaction(async (tx) => {
    const lost = reading ? await beginReading(tx, reading) : null;
    const [row] = await tx.$queryRaw<[{ number: number; at: Date }]>`
      INSERT INTO epoch (number, reason, started_at, moved_at, lost_from, run_id)
      SELECT greatest(max(number), ${seen}::integer) + 1, ${proseAsRecorded(reason)},
        coalesce(${lost?.to}::timestamptz, clock_timestamp()), clock_timestamp(),
        ${lost?.from}::timestamptz, ${lost?.runId}::uuid
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
