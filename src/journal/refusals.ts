import { PrismaService } from '../platform/database/prisma.service';
import { asRecorded } from '../platform/privacy/recorded';
import { lockClients } from './admissions';
import { NewRefusal } from './records';

/**
 * Writes refused requests in one statement and commit. Then releases the reservations of requests that were refused
 * because of a database failure, but were admitted after all.
 */
export async function insertRefusals(prisma: PrismaService, refusals: NewRefusal[]): Promise<void> {
  await insert(prisma, refusals);
  const doubtful = refusals.filter(({ code }) => code === 'database_unavailable');
  if (doubtful.length > 0) await release(prisma, doubtful);
}

/**
 * Releases reservations after the refusals are committed, under the lock of their clients. An admission that held the
 * lock before has committed, so its reservation is visible here. A later admission sees the refusals (none_refused() of
 * the migrations) and reserves nothing.
 */
async function release(prisma: PrismaService, refusals: NewRefusal[]): Promise<void> {
  const clients = [...new Set(refusals.map(({ caller }) => caller.clientId))];
  await prisma.$transaction(async (tx) => {
    await lockClients(tx, clients);
    await tx.$executeRaw`SELECT release_reservations(${refusals.map(({ id }) => id)}::uuid[])`;
  });
}

async function insert(prisma: PrismaService, refusals: NewRefusal[]): Promise<void> {
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
