import { canonical } from '../policy/content';
import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { commitment, hex, newSalt } from '../platform/privacy/commitment';
import { insertion } from './insertion';

/** A read of the history that is about to begin. */
export interface NewAccess {
  /** The call ID of the reading request. For the command line, a UUIDv7 of its own. */
  id: string;
  /** Null for the command line. */
  caller: { clientId: string; keyId: string } | null;
  actor: string | null;
  /** The route, or the command: `audit erase`. */
  route: string;
  callId: string | null;
  callIds: string[];
  /** The filters, as sent. */
  filters: object;
  /** The filters with masked contacts. They are kept forever. */
  maskedFilters: object;
  revealed: boolean;
  /** Null if unknown when the read begins. */
  rows: number | null;
  requestId: string | null;
  clientAddress: string | null;
  /** When it began, as JSON has it. Left out if that is now. */
  readAt?: string;
}

/** How a read of unknown length ended. */
export interface NewAccessEnd {
  accessId: string;
  complete: boolean;
  rows: number;
  /** The hash of the bytes that were sent, without the manifest. */
  sha256: Buffer | null;
  /** The size at the checkpoint in the manifest. */
  checkpointSize: number | null;
  /** When it was, as JSON has it. Left out if that is now. */
  endedAt?: string;
}

/**
 * Writes an access, unless it is there. Nothing may be shown before. If masking hides who was searched for, stores the original filters
 * beside the record, where they can be erased.
 */
export async function insertAccess(prisma: PrismaService, access: NewAccess): Promise<void> {
  const [asked, masked] = [canonical(access.filters), canonical(access.maskedFilters)];
  const salt = asked === masked ? null : newSalt();
  const record = insertion('access', [
    {
      id: access.id,
      client_id: access.caller?.clientId,
      key_id: access.caller?.keyId,
      actor: access.actor,
      route: access.route,
      call_id: access.callId,
      call_ids: access.callIds,
      filters: access.maskedFilters,
      filters_commitment: salt && hex(commitment(salt, asked)),
      revealed: access.revealed,
      rows: access.rows,
      request_id: access.requestId,
      client_address: access.clientAddress,
      ...(access.readAt !== undefined && { read_at: access.readAt }),
    },
  ]);
  const people = salt && [{ access_id: access.id, salt: hex(salt), filters: hex(Buffer.from(asked)) }];
  const once = Prisma.sql`${record} ON CONFLICT DO NOTHING`;
  await prisma.$executeRaw(
    people ? Prisma.sql`WITH record AS (${once}) ${insertion('access_filters', people)} ON CONFLICT DO NOTHING` : once,
  );
}

/** Writes the end of an access, unless it is there. */
export async function insertAccessEnd(prisma: PrismaService, end: NewAccessEnd): Promise<void> {
  const { accessId, complete, rows, sha256, checkpointSize, endedAt = null } = end;
  await prisma.$executeRaw`
    INSERT INTO access_end (access_id, complete, rows, sha256, checkpoint_size, ended_at)
    VALUES (${accessId}::uuid, ${complete}, ${rows}, ${sha256}, ${checkpointSize}, coalesce(${endedAt}::timestamptz, clock_timestamp()))
    ON CONFLICT DO NOTHING`;
}
