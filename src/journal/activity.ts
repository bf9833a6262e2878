import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { ChangeAuthor, ChangeRecords, ClientChange } from '../access/clients/changes';
import { Prisma } from '../platform/database/generated/client';
import { canonical } from '../policy/content';
import { asRecorded, proseAsRecorded } from '../platform/privacy/recorded';

/** Records changes of clients and their keys, in the transaction of the change. */
@Injectable()
export class ActivityJournal implements ChangeRecords {
  async record(tx: Prisma.TransactionClient, changes: ClientChange[], by: ChangeAuthor): Promise<void> {
    if (changes.length === 0) return;
    const rows = changes.map(({ action, client, keyId, before, after }) => ({
      id: uuidv7(),
      action,
      target_client_id: client.id,
      target_client: client.name,
      target_key_id: keyId,
      before: before && stateAsRecorded(before),
      after: stateAsRecorded(after),
      via: by.via,
      client_id: by.clientId,
      key_id: by.keyId,
      actor: asRecorded(by.actor),
      client_address: by.clientAddress,
      request_id: by.requestId,
      call_id: by.callId,
      reason: proseAsRecorded(by.reason),
    }));
    const columns = Prisma.raw(Object.keys(rows[0] ?? {}).join(', '));
    await tx.$executeRaw`
      INSERT INTO activity (${columns}) SELECT ${columns}
      FROM json_populate_recordset(NULL::activity, ${JSON.stringify(rows)}::json)`;
  }
}

/** Returns the text that the leaf seals. Country names are free text, so they are masked like any other. */
function stateAsRecorded(state: object): string {
  return canonical(masked(state) as object);
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return asRecorded(value);
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, masked(member)]));
}
