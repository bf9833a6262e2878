import { DURABILITY_SETTINGS, DurabilitySettings } from '../epoch/durability-settings';
import { IS_ELSEWHERE, OTHERS_MS } from '../epoch/epoch-comparison';
import { Instant } from './instant';

/** The facts about the database from one durable write. */
export interface Beat {
  /** Number of this instance's durable writes in the database. Null if below the seen number. */
  number: bigint | null;
  /** Database time in ms since 1970, while the statement ran. */
  databaseMs: number;
  /** When the statement was sent and its commit confirmed, by the clocks of this process. */
  sentAt: Instant;
  confirmedAt: Instant;
  /** The cluster (pg_control_system). Equal in a copy of its files. */
  systemIdentifier: string;
  /** The timeline. A promotion or a point-in-time recovery changes it. */
  timeline: number;
  /** The epoch of the history (table `epoch`). */
  epoch: number;
  /** Whether the database runs on another server than the one where this epoch is known to be complete. */
  isElsewhere: boolean;
  /** Last heartbeat of the other paying instances on that server, in ms since 1970. Null without one. */
  othersMs: number | null;
  /** The number of sealed leaves. */
  sealedSize: number;
  settings: DurabilitySettings;
}

/** One row of `BEAT`. */
export interface BeatRow {
  number: string | null;
  database_ms: string;
  system: string;
  timeline: string;
  epoch: number;
  elsewhere: boolean;
  others_ms: number | null;
  sealed: string;
  settings: DurabilitySettings;
}

/**
 * `$1` is the instance, `$2` its last seen number, `$3` whether it pays, and `$4` whether it misses commits.
 * Never raises a number below the last seen one, which would hide lost commits. An instance that misses
 * commits stays on its known server, so others do not count it as moved.
 */
export const BEAT = `
  WITH beaten AS (
    INSERT INTO instance (id, beat, beat_at, server)
    SELECT $1::uuid, 1, clock_timestamp(), CASE WHEN $3::boolean THEN database_server() END
    WHERE $2::bigint = 0 OR EXISTS (SELECT FROM instance WHERE id = $1::uuid)
    ON CONFLICT (id) DO UPDATE SET beat = instance.beat + 1, beat_at = clock_timestamp(),
      server = CASE WHEN $4::boolean THEN instance.server ELSE EXCLUDED.server END
    WHERE instance.beat >= $2::bigint
    RETURNING beat
  )
  SELECT (SELECT beat FROM beaten)::text AS number,
    extract(epoch FROM clock_timestamp()) * 1000 AS database_ms,
    (SELECT system_identifier::text FROM pg_control_system()) AS system,
    left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline,
    (SELECT max(number) FROM epoch) AS epoch, ${IS_ELSEWHERE} AS elsewhere,
    CASE WHEN ${IS_ELSEWHERE} THEN ${OTHERS_MS} END AS others_ms,
    (SELECT coalesce(max(size), 0)::text FROM checkpoint) AS sealed,
    ${DURABILITY_SETTINGS} AS settings`;

export function toBeat(row: BeatRow, sentAt: Instant, confirmedAt: Instant): Beat {
  return {
    number: row.number === null ? null : BigInt(row.number),
    databaseMs: Number(row.database_ms),
    sentAt,
    confirmedAt,
    systemIdentifier: row.system,
    timeline: parseInt(row.timeline, 16),
    epoch: row.epoch,
    isElsewhere: row.elsewhere,
    othersMs: row.others_ms,
    sealedSize: Number(row.sealed),
    settings: row.settings,
  };
}
