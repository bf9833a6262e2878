import { Instant } from './instant';
import { DURABILITY_SETTINGS, DurabilitySettings } from '../epoch/durability-settings';
import { IS_ELSEWHERE, OTHERS_MS } from '../epoch/epoch-comparison';

/** What one durable write has shown of the database. */
export interface Beat {
  /** The number of durable writes of this instance that the database has. Null if it has fewer than were seen before. */
  number: bigint | null;
  /** By the database's clock, in milliseconds since 1970, while the statement ran. */
  databaseMs: number;
  /** When the statement was sent, and when its commit was confirmed. By the clocks of this process. */
  sentAt: Instant;
  confirmedAt: Instant;
  /** The cluster (pg_control_system), which a copy of its files keeps. */
  systemIdentifier: string;
  /** The timeline, which a promotion or a point-in-time recovery changes. */
  timeline: number;
  /** The epoch of the history (table `epoch`). */
  epoch: number;
  /** Whether the database runs on another server than the one on which this epoch is known to be complete. */
  isElsewhere: boolean;
  /** When the last other instance that pays worked with the database there. Milliseconds since 1970. Null if none did. */
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
 * `$1` is the instance, `$2` the number that it saw last, `$3` whether it pays, and `$4` whether it misses something.
 *
 * Never raises a number that is smaller than the one that was seen last: it would hide that commits were lost. An instance that
 * misses something stays on the server that it knew, so that no other one takes it for one that has come along.
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
  SELECT (SELECT beat FROM beaten)::text AS number, extract(epoch FROM clock_timestamp()) * 1000 AS database_ms,
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
