import { CALLS, RECORDED_STATE } from '../../operations/lifecycle/lifecycle-sql';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { NO_PROCESS } from '../stops/recovery-gap';

/** The part of a batch that one client gets. */
export interface QueueShare {
  clientId: string;
  atMost: number;
  /** Operations that are stopped, or whose circuit is open. */
  without: string[];
}

/** A row that no live process works on. */
const FREE = Prisma.sql`(process IS NULL OR process <> ALL (ARRAY(SELECT live_processes())))`;

/**
 * Opens queued calls to all instances, once their admission is known. Until then, the proxy may still tell
 * the app that nothing was admitted. If this process ends before, the calls are open, too.
 */
export async function openQueued(prisma: Pick<PrismaService, '$executeRaw'>, ids: string[]): Promise<void> {
  await prisma.$executeRaw`UPDATE queued_call SET process = NULL WHERE intent_id = ANY (${ids}::uuid[])`;
}

/** Reads the clients with queued calls: one look-up in the index for each. */
export async function queuedClients(prisma: PrismaService, account: string): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ client: string }[]>`
    WITH RECURSIVE waiting AS (
      (SELECT client_id FROM queued_call WHERE account = ${account} ORDER BY client_id LIMIT 1)
      UNION ALL
      SELECT (SELECT q.client_id FROM queued_call q
        WHERE q.account = ${account} AND q.client_id > waiting.client_id ORDER BY q.client_id LIMIT 1)
      FROM waiting WHERE client_id IS NOT NULL
    )
    SELECT client_id::text AS client FROM waiting WHERE client_id IS NOT NULL`;
  return rows.map(({ client }) => client);
}

/**
 * Claims the oldest queued calls of clients for this process. No other process takes them while it lives.
 * @param later calls to leave.
 * @returns their IDs.
 */
export async function claimQueued(
  prisma: PrismaService,
  process: number,
  account: string,
  shares: QueueShare[],
  later: string[],
): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    WITH oldest AS MATERIALIZED (
      SELECT q.intent_id
      FROM json_to_recordset(${JSON.stringify(shares)}::json)
        AS share("clientId" uuid, "atMost" integer, without json)
      CROSS JOIN LATERAL (
        SELECT intent_id FROM queued_call
        WHERE account = ${account} AND client_id = share."clientId" AND ${FREE}
          AND operation <> ALL (ARRAY(SELECT json_array_elements_text(share.without)))
          AND intent_id <> ALL (${later}::uuid[])
          AND ends_at > clock_timestamp()
        ORDER BY intent_id LIMIT share."atMost" FOR UPDATE SKIP LOCKED
      ) AS q
    )
    UPDATE queued_call SET process = ${process}::integer FROM oldest
    WHERE queued_call.intent_id = oldest.intent_id RETURNING queued_call.intent_id::text AS id`;
  return rows.map(({ id }) => id).sort();
}

/** Claims expired calls for this process, oldest first. @returns their IDs. */
export async function claimExpired(
  prisma: PrismaService,
  process: number,
  atMost: number,
): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    UPDATE queued_call SET process = ${process}::integer WHERE intent_id IN (
      SELECT intent_id FROM queued_call WHERE ends_at <= clock_timestamp() AND ${FREE}
      ORDER BY ends_at LIMIT ${atMost}::integer FOR UPDATE SKIP LOCKED)
    RETURNING intent_id::text AS id`;
  return rows.map(({ id }) => id).sort();
}

/** The queue as of now. */
export interface QueueState {
  calls: number;
  /** Time of the oldest call. Null if the queue is empty. */
  oldestSince: Date | null;
}

/** Reads the length of the queue, and the time of its oldest call, which is in its ID. */
export async function readQueue(prisma: Pick<ReaderPrisma, '$queryRaw'>): Promise<QueueState> {
  const [row] = await prisma.$queryRaw<QueueState[]>`
    SELECT count(*)::float8 AS calls, min(
      to_timestamp(('x' || left(replace(intent_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
    ) AS "oldestSince" FROM queued_call`;
  return row as QueueState; // an aggregate has one row
}

/** Counts the queued calls whose turn came in the last minute. */
export async function countLastReleases(prisma: Pick<ReaderPrisma, '$queryRaw'>): Promise<number> {
  const [row] = await prisma.$queryRaw<{ calls: number }[]>`
    SELECT count(*)::float8 AS calls FROM decision
    WHERE kind = 'released' AND decided_at > clock_timestamp() - interval '1 minute'`;
  return row?.calls ?? 0;
}

/**
 * Puts every queued call in doubt, as released by a process that is gone. An older database may lack the
 * records that a call was sent, so after a recovery none is sent. The upstream's list settles them.
 * @returns their number.
 */
export async function doubtQueued(prisma: PrismaService): Promise<number> {
  return prisma.$executeRaw`
    WITH taken AS (DELETE FROM queued_call RETURNING intent_id)
    INSERT INTO decision (intent_id, kind, reason, body_commitment, process, client_id, key_id)
    SELECT id, 'released', 'Queued in a recovered database. It may have been sent before the recovery.',
      decode(record::json ->> 'body_commitment', 'hex'), ${NO_PROCESS}::integer, client_id,
      (record::json ->> 'key_id')::uuid
    FROM (SELECT i.*, ${RECORDED_STATE} AS state FROM ${CALLS}
      WHERE i.id IN (SELECT intent_id FROM taken)) AS call
    WHERE state = 'queued' ON CONFLICT DO NOTHING`;
}
