import { PrismaService } from '../database/prisma.service';
import { asRecorded } from '../privacy/recorded';
import { NewRefusal } from './records';

/** Writes refused requests: one statement, one commit. */
export async function insertRefusals(prisma: PrismaService, refusals: NewRefusal[]): Promise<void> {
  const rows = JSON.stringify(refusals.map(refusalRow));
  await prisma.$executeRaw`
    INSERT INTO refusal (id, client_id, key_id, operation, request_id, traceparent, client_address, status, code, detail,
      faults, fault_count, received_at, idempotency_key, actor, first_call_id)
    SELECT id, client_id, key_id, operation, request_id, traceparent, client_address, status, code, detail,
      faults, fault_count, received_at, idempotency_key, actor, first_call_id
    FROM json_populate_recordset(NULL::refusal, ${rows}::json) ON CONFLICT DO NOTHING`;
}

function refusalRow(refusal: NewRefusal) {
  return {
    id: refusal.id,
    client_id: refusal.caller.clientId,
    key_id: refusal.caller.keyId,
    operation: refusal.operation,
    request_id: refusal.requestId,
    traceparent: refusal.traceparent ?? null,
    client_address: refusal.clientAddress,
    status: refusal.status,
    code: refusal.code,
    detail: asRecorded(refusal.detail),
    faults: refusal.faults.map(({ pointer, detail }) => ({ pointer: asRecorded(pointer), detail: asRecorded(detail) })),
    fault_count: refusal.faultsTotal,
    received_at: refusal.receivedAt,
    idempotency_key: refusal.idempotencyKey,
    actor: refusal.actor,
    first_call_id: refusal.firstCallId,
  };
}
