import { PrismaService } from '../platform/database/prisma.service';
import { asRecorded, proseAsRecorded } from '../platform/privacy/recorded';
import { NewUpstreamEvent } from './records';

/**
 * Writes an event of the upstream once, however often and to whichever instance it comes. @returns whether it was new.
 */
export async function insertUpstreamEvent(prisma: PrismaService, event: NewUpstreamEvent): Promise<boolean> {
  const written = await prisma.$executeRaw`
    INSERT INTO upstream_event (id, event_id, event_type, batch_ref, upstream_id, upstream_ref, status, amount_usd, signed_at)
    VALUES (${event.id}::uuid, ${asRecorded(event.eventId)}, ${proseAsRecorded(event.eventType)}, ${asRecorded(event.batchRef)},
      ${asRecorded(event.upstreamId)}, ${asRecorded(event.upstreamRef)}, ${proseAsRecorded(event.status)},
      ${event.amountUsd?.toFixed() ?? null}::numeric, ${event.signedAt}::timestamptz)
    ON CONFLICT (event_id) DO NOTHING`;
  return written === 1;
}
