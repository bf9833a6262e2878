import { PrismaService } from '../database/prisma.service';
import { NewResolution } from './records';

/**
 * Settles a call in doubt, once: of two at once the first wins. `absent` gives its reservation back, `landed` keeps it.
 * @returns false, and nothing is written, if it is settled already or the upstream's word has come meanwhile.
 */
export async function insertResolution(prisma: PrismaService, resolution: NewResolution): Promise<boolean> {
  const { intentId, verdict, reason, by } = resolution;
  return prisma.$transaction(async (tx) => {
    // An outcome that commits right after this look stands beside the resolution and has the last word (audit/outcome.ts);
    // release_reservations gives back once, whoever comes first.
    const written = await tx.$executeRaw`
      INSERT INTO resolution (intent_id, verdict, reason, client_id, key_id, actor)
      SELECT ${intentId}::uuid, ${verdict}, ${reason}, ${by.clientId}::uuid, ${by.keyId}::uuid, ${by.actor}
      WHERE NOT EXISTS (SELECT FROM outcome WHERE intent_id = ${intentId}::uuid AND kind <> 'unknown')
      ON CONFLICT DO NOTHING`;
    if (written === 0) return false;
    if (verdict === 'absent') await tx.$executeRaw`SELECT release_reservations(ARRAY[${intentId}::uuid])`;
    return true;
  });
}
