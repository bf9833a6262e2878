import { Caller, CALLER_COLUMNS_FOR_PERSON, callerOf, CallerRow } from '../../access/callers/caller';
import { OPENS } from '../../access/clients/key';
import { STATE } from '../../access/ephemeral/state';
import { Prisma } from '../../platform/database/generated/client';

interface RequesterRow extends CallerRow {
  callId: string;
}

/**
 * Reads the current callers of the keys that requested these calls, by call ID, with the limits of the call's
 * person. Omits calls of revoked and expired keys, and of revoked credentials of people. An ephemeral key
 * counts as its parent, because it expires before most approvals.
 */
export async function readRequesters(
  tx: Prisma.TransactionClient,
  callIds: string[],
): Promise<Map<string, Caller>> {
  const rows = await tx.$queryRawUnsafe<RequesterRow[]>(
    `SELECT i.id::text AS "callId", ${CALLER_COLUMNS_FOR_PERSON}
     FROM intent i
       JOIN api_key k ON k.id = (i.record::json ->> 'key_id')::uuid
       JOIN client c ON c.id = k.client_id
       LEFT JOIN person p ON p.id = i.person_id
       LEFT JOIN ephemeral_key e ON e.id = i.ephemeral_key_id
     WHERE i.id = ANY ($1::uuid[]) AND ${OPENS}
       AND (
         p.revoked_at >= i.recorded_at
         AND i.record::json ->> 'actor_source' NOT IN ('key', 'claimed')
       ) IS NOT TRUE
       AND (i.ephemeral_key_id IS NULL OR e.id IS NOT NULL AND ${STATE} <> 'revoked')`,
    callIds,
  );
  return new Map(rows.map((row) => [row.callId, callerOf(row)]));
}
