import { PrismaService } from '../platform/database/prisma.service';
import { JOB_CHANNEL } from '../platform/jobs/job';
import { asRecorded, proseAsRecorded } from '../platform/privacy/recorded';
import { recordedAccount } from './recorded-account';
import { UpstreamItem } from './records';

/** An event that the upstream sent. */
export interface NewUpstreamEvent extends Omit<UpstreamItem, 'position' | 'feeUsd' | 'payoutStatus' | 'payoutError'> {
  /** The UUIDv7 of the record. */
  id: string;
  /** The upstream account that sent it. */
  account: string;
  /** The ID that was signed. */
  eventId: string;
  eventType: string | null;
  signedAt: Date;
}

/** The most events that wait to be read back. Nothing depends on them: the resolver and the next run read everything. */
const MOST_WAITING = 1_000;

/**
 * Writes an event of the upstream once, however often and to whichever instance it comes, and asks the workers to read
 * its subject back. @returns whether it was new.
 */
export async function insertUpstreamEvent(prisma: PrismaService, event: NewUpstreamEvent): Promise<boolean> {
  const account = recordedAccount(event.account);
  // Accounts choose their IDs. None may keep an event of another one from being recorded.
  const eventId = account === null ? event.eventId : `${account}/${event.eventId}`;
  const rows = await prisma.$queryRaw<{ told: string }[]>`
    WITH event AS (
      INSERT INTO upstream_event (id, account, event_id, event_type, batch_ref, upstream_id, upstream_ref, status, amount_usd, signed_at)
      VALUES (${event.id}::uuid, ${account}, ${asRecorded(eventId)}, ${proseAsRecorded(event.eventType)}, ${asRecorded(event.batchRef)},
        ${asRecorded(event.upstreamId)}, ${asRecorded(event.upstreamRef)}, ${proseAsRecorded(event.status)},
        ${event.amountUsd?.toFixed() ?? null}::numeric, ${event.signedAt}::timestamptz)
      ON CONFLICT (event_id) DO NOTHING RETURNING id, coalesce(batch_ref, upstream_id) IS NOT NULL AS has_subject
    ), task AS (
      INSERT INTO worker_task (id, kind) SELECT id, 'read_back' FROM event
      WHERE has_subject AND (SELECT count(*) FROM worker_task) < ${MOST_WAITING}
    )
    SELECT pg_notify(${JOB_CHANNEL}, 'resolve')::text AS told FROM event`;
  return rows.length === 1;
}
