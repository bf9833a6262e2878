import { v7 as uuidv7 } from 'uuid';
import { givenUpAfterMs, overAfterMs, Timeouts } from '../platform/config/upstream-timeouts';
import { Resolution, STATES } from '../operations/lifecycle';
import { CALLS, RECORDED_STATE, STATE_COLUMNS } from '../operations/lifecycle-sql';
import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { proseAsRecorded } from '../platform/privacy/recorded';
import { Author, authorSql } from './author';

/** How a call in doubt is settled: carried out, or not. */
export interface NewResolution {
  intentId: string;
  /** The resolution that this one corrects. The first one has the ID of its call. Null if this is the first. */
  supersedes: string | null;
  outcome: Resolution;
  reason: string;
  /** Null if the proxy settled the call by itself. Its verdict then has the reason. */
  by: Author | null;
}

/**
 * Returns the ages from which a call without an outcome may be settled, in milliseconds by the database's clock. Both
 * are longer than a call may still be sent (`sendableForMs`). `goneMs` is for a call whose process is gone: the longest
 * time that the upstream may have taken. `aliveMs` is for a call whose process lives: the longest time that it may take
 * to record an outcome.
 */
export function settledAfter(timeouts: Timeouts): { goneMs: number; aliveMs: number } {
  return { goneMs: overAfterMs(timeouts), aliveMs: givenUpAfterMs(timeouts) };
}

/**
 * Settles a call in doubt, or corrects its resolution. If two do so at once, the first wins.
 * @returns false, and writes nothing, if another resolution is in effect, or if the call is not in doubt.
 */
export async function insertResolution(
  prisma: PrismaService,
  resolution: NewResolution,
  timeouts: Timeouts,
): Promise<boolean> {
  return prisma.$transaction((tx) => settle(tx, resolution, timeouts));
}

/** The same within a transaction. `not_executed` releases the reservation, `confirmed` keeps it or makes it again. */
export async function settle(
  tx: Prisma.TransactionClient,
  resolution: NewResolution,
  timeouts: Timeouts,
): Promise<boolean> {
  const { intentId, outcome, supersedes } = resolution;
  const written = await (supersedes === null ? writeFirst(tx, resolution, timeouts) : correct(tx, resolution));
  if (written && STATES[outcome].executed === 'no') {
    await tx.$executeRaw`SELECT release_reservations(ARRAY[${intentId}::uuid])`;
  }
  return written;
}

/**
 * Writes a first resolution. A call of a process that seems to be gone is in doubt at once, but may not be settled yet:
 * `not_executed` lets an app pay again.
 * @returns false, and writes nothing, if the call is settled already, or if the upstream has answered or still may.
 */
async function writeFirst(
  tx: Prisma.TransactionClient,
  { intentId, outcome, reason, by }: NewResolution,
  timeouts: Timeouts,
): Promise<boolean> {
  const { goneMs, aliveMs } = settledAfter(timeouts);
  // An outcome that commits right after this check stands beside the resolution and has precedence
  // (src/operations/lifecycle.ts). release_reservations releases once, whoever comes first.
  const written = await tx.$executeRaw`
    INSERT INTO resolution (intent_id, outcome, reason, client_id, key_id, actor)
    SELECT id, ${outcome}, ${proseAsRecorded(reason)}, ${authorSql(by)}
    FROM (SELECT i.id, ${STATE_COLUMNS} FROM ${CALLS} WHERE i.id = ${intentId}::uuid) AS call
    WHERE state = 'unknown' OR (state = 'in_progress' AND clock_timestamp() - released_at > make_interval(secs => CASE
      WHEN process IN (SELECT live_processes()) THEN ${aliveMs / 1_000}::float ELSE ${goneMs / 1_000}::float END))
    ON CONFLICT DO NOTHING`;
  return written === 1;
}

/**
 * Corrects the resolution of a call. `confirmed` makes the released reservation again, on its original day and even
 * over a cap, because paid amounts count. `not_executed` releases the reservation. Two corrections of one resolution
 * cannot both be written.
 * @returns false, and writes nothing, if another resolution is in effect, if it has the same outcome, or if the
 * upstream has answered since.
 */
async function correct(
  tx: Prisma.TransactionClient,
  { intentId, supersedes, outcome, reason, by }: NewResolution,
): Promise<boolean> {
  await tx.$executeRaw`SELECT lock_resolution(${intentId}::uuid)`;
  const written = await tx.$queryRaw<unknown[]>`
    WITH correction AS (
      INSERT INTO resolution_correction (id, intent_id, supersedes, outcome, reason, reserves, client_id, key_id, actor)
      SELECT ${uuidv7()}::uuid, s.intent_id, s.id, ${outcome}, ${proseAsRecorded(reason)},
        ${STATES[outcome].executed === 'yes'} AND i.total_usd IS NOT NULL AND coalesce(i.reserved_on, d.reserved_on) IS NOT NULL
          AND EXISTS (SELECT FROM reservation_release r WHERE r.intent_id = i.id)
          AND NOT EXISTS (SELECT FROM resolution_correction c WHERE c.intent_id = i.id AND c.reserves
            AND NOT EXISTS (SELECT FROM correction_release r WHERE r.correction_id = c.id)),
        ${authorSql(by)}
      FROM ${CALLS}
      WHERE i.id = ${intentId}::uuid AND s.id = ${supersedes}::uuid AND s.outcome <> ${outcome}
        AND ${RECORDED_STATE} = s.outcome -- the upstream has not answered since
      ON CONFLICT DO NOTHING RETURNING intent_id, reserves
    ), reserved AS (
      INSERT INTO spending (client_id, day, usd)
      SELECT i.client_id, coalesce(i.reserved_on, d.reserved_on), i.total_usd
      FROM correction c JOIN intent i ON i.id = c.intent_id LEFT JOIN decision d ON d.intent_id = i.id WHERE c.reserves
      ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd
    )
    SELECT intent_id FROM correction`;
  return written.length > 0;
}
