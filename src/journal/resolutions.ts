import { givenUpAfterMs, overAfterMs, Timeouts } from '../config/upstream-timeouts';
import { Prisma } from '../database/generated/client';
import { PrismaService } from '../database/prisma.service';
import { proseAsRecorded } from '../privacy/recorded';
import { NewResolution } from './records';

/** Past which ages (milliseconds, by the database's clock) a call without an outcome may be settled. */
export interface SettledAfter {
  /** Where its process is gone: the longest that the upstream may have taken. */
  goneMs: number;
  /** Where its process lives: the longest that it may take to record an outcome. */
  aliveMs: number;
}

/** Both are longer than a call may still be sent (`sendableForMs`). */
export function settledAfter(timeouts: Timeouts): SettledAfter {
  return { goneMs: overAfterMs(timeouts), aliveMs: givenUpAfterMs(timeouts) };
}

/** Settles a call in doubt, once: of two at once the first wins. */
export async function insertResolution(
  prisma: PrismaService,
  resolution: NewResolution,
  settledAfter: SettledAfter,
): Promise<boolean> {
  return prisma.$transaction((tx) => writeResolution(tx, resolution, settledAfter));
}

/**
 * `absent` gives the reservation back, `landed` keeps it. That a process seems to be gone lists its calls at once; here it is
 * not enough, for `absent` lets an app pay again.
 * @returns false, and nothing is written, if it is settled already, the upstream's word has come, or may still come.
 */
export async function writeResolution(
  tx: Prisma.TransactionClient,
  { intentId, verdict, reason, by }: NewResolution,
  { goneMs, aliveMs }: SettledAfter,
): Promise<boolean> {
  // An outcome that commits right after this look stands beside the resolution and has the last word (audit/outcome.ts);
  // release_reservations gives back once, whoever comes first.
  const written = await tx.$executeRaw`
    INSERT INTO resolution (intent_id, verdict, reason, client_id, key_id, actor)
    SELECT i.id, ${verdict}, ${proseAsRecorded(reason)}, ${by?.clientId ?? null}::uuid, ${by?.keyId ?? null}::uuid,
      ${by?.actor ?? null}
    FROM intent i LEFT JOIN decision d ON d.intent_id = i.id LEFT JOIN outcome o ON o.intent_id = i.id
    WHERE i.id = ${intentId}::uuid AND (o.kind = 'unknown' OR (
      o.intent_id IS NULL AND (i.held_for IS NULL OR d.verdict = 'approved')
      AND clock_timestamp() - coalesce(d.decided_at, i.recorded_at) > make_interval(secs => CASE
        WHEN coalesce(d.process, i.process) IN (SELECT live_processes()) THEN ${aliveMs / 1_000}::float
        ELSE ${goneMs / 1_000}::float END)))
    ON CONFLICT DO NOTHING`;
  if (written === 0) return false;
  if (verdict === 'absent') await tx.$executeRaw`SELECT release_reservations(ARRAY[${intentId}::uuid])`;
  return true;
}
