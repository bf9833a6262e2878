import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { JOB_CHANNEL, JobName } from '../../platform/jobs/job';
import { asRecorded, proseAsRecorded } from '../../platform/privacy/recorded';
import { recordedAccount } from '../records/accounts';
import { UpstreamItem } from '../records/records';

/**
 * Wakes the workers of a job once this transaction commits. A worker that misses the notification finds the
 * work a little later.
 */
export async function wakeWorkers(tx: Prisma.TransactionClient, job: JobName): Promise<void> {
  await tx.$queryRaw`SELECT pg_notify(${JOB_CHANNEL}, ${job})::text`;
}

/**
 * Asks the workers for a round of the resolver.
 * @returns the ID of the task. Delete it once its result is known.
 */
export async function askForRound(prisma: PrismaService): Promise<string> {
  const id = newId();
  await prisma.$queryRaw`
    WITH task AS (INSERT INTO worker_task (id, kind) VALUES (${id}::uuid, 'round'))
    SELECT pg_notify(${JOB_CHANNEL}, 'resolve')::text`;
  return id;
}

/** Returns the result of a task. Null while it has none. */
export async function readTaskResult<Result>(prisma: PrismaService, id: string): Promise<Result | null> {
  const [row] = await prisma.$queryRaw<{ result: Result | null }[]>`
    SELECT result FROM worker_task WHERE id = ${id}::uuid`;
  return row?.result ?? null;
}

/** Returns the rounds that a caller waits for. */
export async function roundsAskedFor(prisma: PrismaService): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id::text FROM worker_task WHERE kind = 'round' AND result IS NULL`;
  return rows.map(({ id }) => id);
}

/** Answers the rounds that were requested before a round began, with its result. */
export async function answerRounds(prisma: PrismaService, ids: string[], result: object): Promise<void> {
  await prisma.$executeRaw`
    UPDATE worker_task SET result = ${JSON.stringify(result)}::json WHERE id = ANY (${ids}::uuid[])`;
}

/** Deletes finished tasks. */
export async function deleteTasks(prisma: PrismaService, ids: string[]): Promise<void> {
  await prisma.$executeRaw`DELETE FROM worker_task WHERE id = ANY (${ids}::uuid[])`;
}

/** An event whose subject is to be read back from the upstream. */
export type ReadBack = Pick<NewUpstreamEvent, 'id' | 'account' | 'batchRef' | 'upstreamId' | 'upstreamRef'>;

/** Returns the events that wait to be read back, oldest first. */
export async function readBacksAskedFor(prisma: PrismaService): Promise<ReadBack[]> {
  return prisma.$queryRaw<ReadBack[]>`
    SELECT e.id::text, coalesce(e.account, ${MAIN_ACCOUNT}) AS account, e.batch_ref AS "batchRef",
      e.upstream_id AS "upstreamId", e.upstream_ref AS "upstreamRef"
    FROM worker_task t JOIN upstream_event e ON e.id = t.id WHERE t.kind = 'read_back' ORDER BY t.id`;
}

/** An event that the upstream sent. */
export interface NewUpstreamEvent extends Omit<
  UpstreamItem,
  'position' | 'feeUsd' | 'payoutStatus' | 'payoutError'
> {
  /** The UUIDv7 of the record. */
  id: string;
  /** The sending upstream account. */
  account: string;
  /** The signed ID. */
  eventId: string;
  eventType: string | null;
  signedAt: Date;
}

/** Limit of events waiting to be read back. The resolver and the next run read everything anyway. */
const MOST_WAITING = 1_000;

/**
 * Writes an event of the upstream once, however many deliveries and instances receive it. Wakes the workers
 * to read its subject back.
 * @returns whether it was new.
 */
export async function insertUpstreamEvent(prisma: PrismaService, event: NewUpstreamEvent): Promise<boolean> {
  const account = recordedAccount(event.account);
  // Accounts choose their IDs. A collision must not suppress an event of another account.
  const eventId = account === null ? event.eventId : `${account}/${event.eventId}`;
  const rows = await prisma.$queryRaw<{ told: string }[]>`
    WITH event AS (
      INSERT INTO upstream_event (id, account, event_id, event_type, batch_ref, upstream_id, upstream_ref,
        status, amount_usd, signed_at)
      VALUES (${event.id}::uuid, ${account}, ${asRecorded(eventId)}, ${proseAsRecorded(event.eventType)},
        ${asRecorded(event.batchRef)}, ${asRecorded(event.upstreamId)}, ${asRecorded(event.upstreamRef)},
        ${proseAsRecorded(event.status)},
        ${event.amountUsd?.toFixed() ?? null}::numeric, ${event.signedAt}::timestamptz)
      ON CONFLICT (event_id) DO NOTHING
      RETURNING id, coalesce(batch_ref, upstream_id) IS NOT NULL AS has_subject
    ), task AS (
      INSERT INTO worker_task (id, kind) SELECT id, 'read_back' FROM event
      WHERE has_subject AND (SELECT count(*) FROM worker_task) < ${MOST_WAITING}
    )
    SELECT pg_notify(${JOB_CHANNEL}, 'resolve')::text AS told FROM event`;
  return rows.length === 1;
}
