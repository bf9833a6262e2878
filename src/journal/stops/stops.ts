import { Injectable, Logger } from '@nestjs/common';
import { Client } from 'pg';
import { Author } from '../../access/auth/call';
import { haveSameOwner } from '../../access/people/same-person';
import { EpochService } from '../../continuity/fence/epoch.service';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { LOCKS } from '../../platform/database/locks';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { proseAsRecorded } from '../../platform/privacy/recorded';
import { Stop } from '../../policy/limits/stops';
import { authorSql, Operator } from '../records/author';
import { unreadAfter } from './recovery-gap';

/** Author of a stop or its lift: the key of a request, or an operator with a command. */
export type StopAuthor = (Author & { via: 'api' | 'console' }) | Operator;

/**
 * The active stops, oldest first: usually none. They are read at each admission and approval, so a stop
 * covers every call that is decided after its commit. A decided call is sent as soon as its decision is
 * committed.
 * See docs/internals/decisions/money/0007-the-stop-switch-is-read-in-the-admission.md.
 */
export const ACTIVE_STOPS = Prisma.sql`
  SELECT id, stops_client_id AS "clientId", stops_operation AS operation, reason, cause
  FROM stop WHERE NOT EXISTS (SELECT FROM stop_lift WHERE stop_id = stop.id) ORDER BY id`;

/** Reads the active stops, oldest first. */
export function readStops(tx: Pick<Prisma.TransactionClient, '$queryRaw'>): Promise<Stop[]> {
  return tx.$queryRaw<Stop[]>(ACTIVE_STOPS);
}

/** A stop is most urgent when the proxy is busiest, so it waits for a connection like any query. */
const MAX_WAIT_MS = 5_000;

/**
 * Writes a stop unless one with the same target and cause is active.
 * @param by null for the proxy itself.
 * @returns the ID of the active stop, and whether it is new.
 */
export async function insertStop(
  prisma: PrismaService,
  { clientId, operation, reason, cause = null }: Omit<Stop, 'id'>,
  by: StopAuthor | null,
): Promise<{ id: string; added: boolean }> {
  return prisma.$transaction(
    async (tx) => {
      await tx.$queryRaw`SELECT pg_advisory_xact_lock(${LOCKS.stop})::text`;
      const stops = await readStops(tx);
      const there = stops.find(
        (stop) => stop.clientId === clientId && stop.operation === operation && stop.cause === cause,
      );
      if (there) {
        // The stop may not be replicated if its commit was reported as failed. This write waits for it.
        await tx.$queryRaw`SELECT pg_logical_emit_message(true, 'payout_proxy', '')::text`;
        return { id: there.id, added: false };
      }
      const id = newId();
      await tx.$executeRaw`
      INSERT INTO stop (id, stops_client_id, stops_operation, reason, cause, epoch,
        client_id, key_id, actor, via)
      VALUES (${id}::uuid, ${clientId}::uuid, ${operation}, ${proseAsRecorded(reason)}, ${cause},
        CASE WHEN ${cause}::text IS NOT NULL THEN (SELECT max(number) FROM epoch) END,
        ${authorSql(by)}, ${viaOf(by)})`;
      return { id, added: true };
    },
    { maxWait: MAX_WAIT_MS },
  );
}

/** Stops everything, because the database is older than before. Only the next epoch allows a lift. */
export function insertStopOfAll(
  prisma: PrismaService,
  reason: string,
): Promise<{ id: string; added: boolean }> {
  return insertStop(prisma, { clientId: null, operation: null, reason, cause: 'database_behind' }, null);
}

/**
 * Lifts a stop. Of two concurrent lifts, one succeeds.
 * @param unreconciled also lifts the stop of a recovered database whose recovery gap was not read from the
 * upstream's list.
 * @returns false if no active stop has this ID.
 */
export async function insertStopLift(
  prisma: Pick<Prisma.TransactionClient, '$executeRaw'>,
  stopId: string,
  by: StopAuthor,
  unreconciled = false,
): Promise<boolean> {
  const lifted = await prisma.$executeRaw`
    WITH unread AS MATERIALIZED (SELECT count(*) AS epochs FROM (${unreadAfter(stopId)}) AS epochs)
    INSERT INTO stop_lift (stop_id, client_id, key_id, actor, via, unreconciled)
    SELECT id, ${authorSql(by)}, ${viaOf(by)}, nullif(epochs > 0, FALSE) FROM stop, unread
    WHERE id = ${stopId}::uuid AND (epoch IS NULL OR epoch < (SELECT max(number) FROM epoch))
      AND (epochs = 0 OR ${unreconciled}) ON CONFLICT DO NOTHING`;
  return lifted === 1;
}

/** Returns whether a stop cannot be lifted yet, because its database has not been recovered. */
export async function needsRecovery(
  prisma: Pick<Prisma.TransactionClient, '$queryRaw'>,
  stopId: string,
): Promise<boolean> {
  const rows = await prisma.$queryRaw<unknown[]>`
    SELECT id FROM stop WHERE id = ${stopId}::uuid AND epoch = (SELECT max(number) FROM epoch)`;
  return rows.length > 0;
}

/** How long a person may lift a stop of their own, in minutes. */
const TAKEN_BACK_MINUTES = 10;

/** Returns whether the owner of a key recently set an active stop themselves. */
export async function isOwnRecentStop(
  prisma: PrismaService,
  stopId: string,
  keyId: string | null,
): Promise<boolean> {
  const [stop] = await prisma.$queryRaw<{ keyId: string | null }[]>`
    SELECT key_id::text AS "keyId" FROM stop WHERE id = ${stopId}::uuid
      AND stopped_at > clock_timestamp() - make_interval(mins => ${TAKEN_BACK_MINUTES}::int)`;
  return stop !== undefined && (await haveSameOwner(prisma, stop.keyId, keyId));
}

function viaOf(by: StopAuthor | null): string | null {
  return by !== null && 'via' in by ? by.via : null;
}

/**
 * Tells all instances that their database is behind, by a stop of everything that takes effect with its
 * commit. The others may not know that calls are missing.
 */
@Injectable()
export class DatabaseBehindStop {
  private readonly logger = new Logger('Epoch');

  constructor(
    private readonly prisma: PrismaService,
    epoch: EpochService,
  ) {
    epoch.whileBehind((detail) => this.set(detail));
  }

  /** Never rejects. The next heartbeat retries. */
  private async set(reason: string): Promise<void> {
    try {
      const { id, added } = await insertStopOfAll(this.prisma, reason);
      if (added) this.logger.error({ stop_id: id }, 'everything is stopped, the database is behind');
    } catch (err) {
      this.logger.error({ err }, 'the stop of an old database cannot be set, will retry');
    }
  }
}

/**
 * Stops everything in a database that was restored from a backup, until it is recovered and a person lifts
 * the stop. Shares the transaction that restores the rows, so no call can pay before.
 * @param reason for operators.
 * @param actor the operating system user who restored it.
 * @returns the ID of the stop.
 */
export async function stopRestored(client: Client, reason: string, actor: string | null): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `WITH active AS (
       SELECT id FROM stop WHERE cause = 'database_behind' AND epoch = (SELECT max(number) FROM epoch)
         AND NOT EXISTS (SELECT FROM stop_lift WHERE stop_id = stop.id)
     ), added AS (
       INSERT INTO stop (id, reason, cause, epoch, actor)
       SELECT $1, $2, 'database_behind', (SELECT max(number) FROM epoch), $3
         WHERE NOT EXISTS (SELECT FROM active) RETURNING id
     )
     SELECT id FROM added UNION ALL SELECT id FROM active LIMIT 1`,
    [newId(), reason, actor],
  );
  return rows[0]?.id ?? '';
}
