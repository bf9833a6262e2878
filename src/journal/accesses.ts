import { Injectable } from '@nestjs/common';
import { canonical } from '../policy/content';
import { PrismaService } from '../platform/database/prisma.service';
import { commitment, hex, newSalt } from './commitment';

/** A read of the history that is about to begin. */
interface NewAccess {
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
}

/** How a read of unknown length ended. */
interface NewAccessEnd {
  accessId: string;
  complete: boolean;
  rows: number;
  /** The hash of the bytes that were sent, without the manifest. */
  sha256: Buffer | null;
  /** The size at the checkpoint in the manifest. */
  checkpointSize: number | null;
}

/** Records who reads the history. */
@Injectable()
export class AccessJournal {
  constructor(private readonly prisma: PrismaService) {}

  /** Resolves once the read is on record. Nothing may be shown before. */
  async open(access: NewAccess): Promise<void> {
    await insertAccess(this.prisma, access);
  }

  async end(end: NewAccessEnd): Promise<void> {
    const { accessId, complete, rows, sha256, checkpointSize } = end;
    await this.prisma.$executeRaw`
      INSERT INTO access_end (access_id, complete, rows, sha256, checkpoint_size)
      VALUES (${accessId}::uuid, ${complete}, ${rows}, ${sha256}, ${checkpointSize})`;
  }
}

/**
 * Writes an access. If masking hides who was searched for, stores the original filters beside the record, where they
 * can be erased.
 */
async function insertAccess(prisma: PrismaService, access: NewAccess): Promise<void> {
  const { id, caller, actor, route, callId, callIds, revealed, rows, requestId, clientAddress } = access;
  const [asked, masked] = [canonical(access.filters), canonical(access.maskedFilters)];
  const salt = asked === masked ? null : newSalt();
  const row = {
    id,
    actor,
    route,
    revealed,
    rows,
    request_id: requestId,
    client_address: clientAddress,
    client_id: caller?.clientId,
    key_id: caller?.keyId,
    call_id: callId,
    call_ids: callIds,
    filters: access.maskedFilters,
    filters_commitment: salt && hex(commitment(salt, asked)),
  };
  const people = salt ? [{ access_id: id, salt: hex(salt), filters: hex(Buffer.from(asked)) }] : [];
  await prisma.$executeRaw`
    WITH record AS (
      INSERT INTO access (id, client_id, key_id, actor, route, call_id, call_ids, filters, filters_commitment, revealed,
        rows, request_id, client_address)
      SELECT id, client_id, key_id, actor, route, call_id, call_ids, filters, filters_commitment, revealed,
        rows, request_id, client_address
      FROM json_populate_record(NULL::access, ${JSON.stringify(row)}::json)
    )
    INSERT INTO access_filters (access_id, salt, filters)
    SELECT access_id, salt, filters FROM json_populate_recordset(NULL::access_filters, ${JSON.stringify(people)}::json)`;
}
