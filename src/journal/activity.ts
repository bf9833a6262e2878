import { Injectable } from '@nestjs/common';
import { ChangeAuthor, ChangeRecords, ClientChange } from '../access/clients/changes';
import { newId } from '../platform/database/ids';
import { Prisma } from '../platform/database/generated/client';
import { canonical } from '../policy/content';
import { asRecorded, proseAsRecorded } from '../platform/privacy/recorded';
import { insertion } from './insertion';

/** Records changes of clients and their keys, in the transaction of the change. */
@Injectable()
export class ActivityJournal implements ChangeRecords {
  async record(tx: Prisma.TransactionClient, changes: ClientChange[], by: ChangeAuthor): Promise<void> {
    if (changes.length === 0) return;
    const rows = changes.map(({ action, client, keyId, before, after }) => ({
      id: newId(),
      action,
      target_client_id: client?.id ?? null,
      target_client: client?.name ?? null,
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
    await tx.$executeRaw(insertion('activity', rows));
  }
}

/** Returns the text that the leaf seals. Country names are free text, so they are masked like any other. */
export function stateAsRecorded(state: object): string {
  const mask = (_: string, value: unknown) => (typeof value === 'string' ? asRecorded(value) : value);
  return canonical(JSON.parse(JSON.stringify(state), mask) as object);
}
