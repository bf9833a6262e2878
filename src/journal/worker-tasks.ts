import { newId } from '../platform/database/ids';
import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { MAIN_ACCOUNT } from '../platform/config/upstream-accounts';
import { JOB_CHANNEL, JobName } from '../platform/jobs/job';
import { NewUpstreamEvent } from './upstream-events';

/** A round whose answer nobody fetched is forgotten after this time. */
const FORGOTTEN_AFTER = '1 hour';

/**
 * Tells the workers that a job has something to do, once this transaction commits. A worker that misses it finds the
 * work by itself a little later.
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

/** Returns the rounds that somebody waits for, and forgets old ones. */
export async function roundsAskedFor(prisma: PrismaService): Promise<string[]> {
  await prisma.$executeRaw`
    DELETE FROM worker_task WHERE kind = 'round' AND asked_at < clock_timestamp() - ${FORGOTTEN_AFTER}::interval`;
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id::text FROM worker_task WHERE kind = 'round' AND result IS NULL`;
  return rows.map(({ id }) => id);
}

/** Answers rounds. All that were asked for before a round began have its result. */
export async function answerRounds(prisma: PrismaService, ids: string[], result: object): Promise<void> {
  await prisma.$executeRaw`
    UPDATE worker_task SET result = ${JSON.stringify(result)}::json WHERE id = ANY (${ids}::uuid[])`;
}

/** Deletes tasks that are done. */
export async function deleteTasks(prisma: PrismaService, ids: string[]): Promise<void> {
  await prisma.$executeRaw`DELETE FROM worker_task WHERE id = ANY (${ids}::uuid[])`;
}

/** An event whose subject the upstream is to be asked about. */
export type ReadBack = Pick<NewUpstreamEvent, 'id' | 'account' | 'batchRef' | 'upstreamId' | 'upstreamRef'>;

/** Returns the events that wait to be read back, oldest first. */
export async function readBacksAskedFor(prisma: PrismaService): Promise<ReadBack[]> {
  return prisma.$queryRaw<ReadBack[]>`
    SELECT e.id::text, coalesce(e.account, ${MAIN_ACCOUNT}) AS account, e.batch_ref AS "batchRef", e.upstream_id AS "upstreamId", e.upstream_ref AS "upstreamRef"
    FROM worker_task t JOIN upstream_event e ON e.id = t.id WHERE t.kind = 'read_back' ORDER BY t.id`;
}
