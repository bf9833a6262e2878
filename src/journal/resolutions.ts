import { v7 as uuidv7 } from 'uuid';
import { givenUpAfterMs, overAfterMs, Timeouts } from '../platform/config/upstream-timeouts';
import { STATES } from '../operations/lifecycle';
import { CALLS, RECORDED_STATE, STATE_COLUMNS } from '../operations/lifecycle-sql';
import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { proseAsRecorded } from '../platform/privacy/recorded';
import { NewResolution } from './records';

/** The ages from which a call without an outcome may be settled, in milliseconds by the database's clock. */
export interface SettledAfter {
  /** If its process is gone: the longest time that the upstream may have taken. */
  goneMs: number;
  /** If its process lives: the longest time that it may take to record an outcome. */
  aliveMs: number;
}

/** Returns the ages. Both are longer than a call may still be sent (`sendableForMs`). */
export function settledAfter(timeouts: Timeouts): SettledAfter {
  return { goneMs: overAfterMs(timeouts), aliveMs: givenUpAfterMs(timeouts) };
}

/** Settles a call in doubt, or corrects its resolution. If two do so at once, the first wins. */
export async function insertResolution(
  prisma: PrismaService,
  resolution: NewResolution,
  settledAfter: SettledAfter,
): Promise<boolean> {
  return prisma.$transaction((tx) =>
    resolution.supersedes === null ? writeResolution(tx, resolution, settledAfter) : correct(tx, resolution),
  );
}

/**
 * Writes a first resolution. `not_executed` releases the reservation, `confirmed` keeps it. A call of a process that
 * seems to be gone is in doubt at once, but may not be settled yet: `not_executed` lets an app pay again.
 * @returns false, and writes nothing, if the call is settled already, or if the upstream has answered or still may.
 */
export async function writeResolution(
  tx: Prisma.TransactionClient,
  { intentId, outcome, reason, by }: NewResolution,
  { goneMs, aliveMs }: SettledAfter,
): Promise<boolean> {
  // An outcome that commits right after this check stands beside the resolution and has precedence
  // (src/operations/lifecycle.ts). release_reservations releases once, whoever comes first.
  const written = await tx.$executeRaw`
    INSERT INTO resolution (intent_id, outcome, reason, client_id, key_id, actor)
    SELECT id, ${outcome}, ${proseAsRecorded(reason)}, ${by?.clientId ?? null}::uuid, ${by?.keyId ?? null}::uuid,
      ${by?.actor ?? null}
    FROM (SELECT i.id, ${STATE_COLUMNS} FROM ${CALLS} WHERE i.id = ${intentId}::uuid) AS call
    WHERE state = 'unknown' OR (state = 'in_progress' AND clock_timestamp() - released_at > make_interval(secs => CASE
      WHEN process IN (SELECT live_processes()) THEN ${aliveMs / 1_000}::float ELSE ${goneMs / 1_000}::float END))
    ON CONFLICT DO NOTHING`;
  if (written === 0) return false;
  if (STATES[outcome].executed === 'no') await tx.$executeRaw`SELECT release_reservations(ARRAY[${intentId}::uuid])`;
  return true;
}

/**
 * Corrects the resolution of a call. `confirmed` makes the released reservation again, on its original day and even
 * over a cap, because paid amounts count. `not_executed` releases the reservation. Two corrections of one resolution
 * cannot both be written.
 * @returns false, and writes nothing, if another resolution is in effect, if it has the same outcome, or if the
 * upstream has answered since.
 */
async function correct(tx: Prisma.TransactionClient, correction: NewResolution): Promise<boolean> {
  const { intentId, outcome } = correction;
  await tx.$executeRaw`SELECT lock_resolution(${intentId}::uuid)`;
  if ((await writeCorrection(tx, correction)) === 0) return false;
  if (STATES[outcome].executed === 'no') await tx.$executeRaw`SELECT release_reservations(ARRAY[${intentId}::uuid])`;
  return true;
}

/** @returns the number of corrections written. */
async function writeCorrection(
  tx: Prisma.TransactionClient,
  { intentId, supersedes, outcome, reason, by }: NewResolution,
): Promise<number> {
  const written = await tx.$queryRaw<unknown[]>`
    WITH correction AS (
      INSERT INTO resolution_correction (id, intent_id, supersedes, outcome, reason, reserves, client_id, key_id, actor)
      SELECT ${uuidv7()}::uuid, s.intent_id, s.id, ${outcome}, ${proseAsRecorded(reason)},
        ${STATES[outcome].executed === 'yes'} AND i.total_usd IS NOT NULL AND coalesce(i.reserved_on, d.reserved_on) IS NOT NULL
          AND EXISTS (SELECT FROM reservation_release r WHERE r.intent_id = i.id)
          AND NOT EXISTS (SELECT FROM resolution_correction c WHERE c.intent_id = i.id AND c.reserves
            AND NOT EXISTS (SELECT FROM correction_release r WHERE r.correction_id = c.id)),
        ${by?.clientId}::uuid, ${by?.keyId}::uuid, ${by?.actor ?? null}
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
  return written.length;
}
