import { codeOf } from '../../platform/errors/error-code';
import { DURABILITY_SETTINGS, DurabilitySettings } from './durability-settings';
import { LastEpoch } from './epoch-file';
import { CommitKind, RecentCommits } from './recent-commits';

/** The state of the database, compared with the evidence of this instance. */
export interface Comparison {
  epoch: number;
  /** Number of the last heartbeat of this instance. */
  beat: string;
  /** Number of seen commits that the database lacks. */
  missing: number;
  /** The number of sealed leaves. */
  sealed: string;
  /** Whether the database runs on another server than the one where it was last known to be complete. */
  isElsewhere: boolean;
  /** Last heartbeat of the other paying instances on that server, in ms since 1970. Null without one. */
  othersMs: number | null;
  /** The server, from database_server(). Null on a standby. */
  server: string | null;
  /** The settings of the session. */
  settings: DurabilitySettings;
}

/** Explanation for operators while it is unknown whether commits are missing. */
export const UNCONFIRMED =
  'The database runs on another server, or on another timeline, than when it was last known to be ' +
  'complete. It may be a restored backup that lacks payments, and this instance is not the last one ' +
  'that worked with it. Start all instances with the DATA_DIRs that they had, or run database recover.';

/** Whether the database has left the server where its newest epoch is known to be complete. */
export const IS_ELSEWHERE = `(SELECT server <> database_server() FROM epoch ORDER BY number DESC LIMIT 1)`;

/** Last heartbeat of any instance but `$1` on the server where the newest epoch is known to be complete. */
export const OTHERS_MS = `(SELECT extract(epoch FROM max(beat_at))::float8 * 1000 FROM instance
  WHERE id <> $1::uuid AND server = (SELECT server FROM epoch ORDER BY number DESC LIMIT 1))`;

/** The month (UTC) of a call's ID, in the form of `pruning`. */
const MONTH =
  `to_char(to_timestamp(('x' || left(replace(c.id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) AT ` +
  `TIME ZONE 'UTC', 'YYYY-MM')`;

/** The record of each kind of commit. */
const RECORDS: Record<CommitKind, string> = {
  admitted: 'SELECT FROM intent r WHERE r.id',
  answered: 'SELECT FROM outcome r WHERE r.intent_id',
  approved: 'SELECT FROM decision r WHERE r.intent_id',
};

export interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

/**
 * The statement and its values. Each new connection plans it. Most planning time is for the partitions of the
 * records, which are omitted while no commit is known.
 */
function comparison(instance: string, commits: RecentCommits): Statement {
  const values: unknown[] = [instance];
  let name = 'compare_epoch';
  const missing = Object.entries(RECORDS).flatMap(([kind, record]) => {
    const ids = commits.idsOf(kind as CommitKind);
    if (ids.length === 0) return [];
    values.push(ids);
    name += `_${kind}`;
    return `(SELECT count(*) FROM unnest($${values.length}::uuid[]) AS c(id)
      WHERE NOT EXISTS (${record} = c.id)
      AND NOT EXISTS (SELECT FROM pruning WHERE what = 'calls' AND month = ${MONTH}))`;
  });
  const text = `
    SELECT (SELECT max(number) FROM epoch) AS epoch,
      coalesce((SELECT beat FROM instance WHERE id = $1::uuid), 0)::text AS beat,
      (${['0', ...missing].join(' + ')})::integer AS missing,
      (SELECT coalesce(max(size), 0) FROM checkpoint)::text AS sealed,
      coalesce(${IS_ELSEWHERE}, false) AS "isElsewhere",
      ${OTHERS_MS} AS "othersMs", database_server() AS server, ${DURABILITY_SETTINGS} AS settings`;
  return { name, text, values };
}

/** Runs the statement on a connection. */
type Query = (statement: Statement) => Promise<Comparison[]>;

/** SQLSTATE class 42: the schema does not allow the statement, for lack of a table or a right. */
const NO_SUCH_TABLE = /^42/;

/**
 * Compares the database with the seen commits, in one round trip.
 * @returns undefined if the database lacks the tables. It can admit nothing then.
 */
export async function compare(
  query: Query,
  instance: string,
  commits: RecentCommits,
): Promise<Comparison | undefined> {
  try {
    const [found] = await query(comparison(instance, commits));
    return found;
  } catch (error) {
    if (NO_SUCH_TABLE.test(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Above the longest interval between heartbeats of a living instance, in ms (heartbeat.service.ts). */
const MAY_LIVE_MS = 20_000;

/**
 * Returns whether this instance cannot prove that nothing is missing on another server. Its evidence ends
 * with the payments that it has seen. Another instance with a heartbeat on the old server of about the same
 * time may have paid later, so it must join the new server first. It cannot beat there if it misses a commit.
 */
export function isUnconfirmed(
  found: Pick<Comparison, 'isElsewhere' | 'othersMs'>,
  seen: LastEpoch | undefined,
): boolean {
  if (!found.isElsewhere || found.othersMs === null) return found.isElsewhere && !seen;
  return !seen || found.othersMs > Date.parse(seen.seen_at) - MAY_LIVE_MS;
}

/**
 * Describes the missing commits. Undefined without any.
 * @param seen the evidence at the start of the comparison. A later heartbeat may be newer than its snapshot.
 */
export function lackOf(found: Comparison, seen: LastEpoch | undefined): string | undefined {
  if (seen && found.epoch < seen.epoch)
    return `it is in epoch ${found.epoch}, and this instance has seen ${seen.epoch}`;
  if (seen && BigInt(found.beat) < BigInt(seen.beat))
    return `it has heartbeat ${found.beat} of this instance, which has seen ${seen.beat}`;
  if (found.missing > 0) return `it lacks ${found.missing} of the last commits that this instance has seen`;
  if (seen && Number(found.sealed) < seen.sealed_size)
    return `it has ${found.sealed} sealed leaves, and this instance has seen ${seen.sealed_size}`;
  return undefined;
}
