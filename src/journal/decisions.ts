import { Decimal } from 'decimal.js';
import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { CALLS, STATE_COLUMNS, stateIn } from '../operations/lifecycle-sql';
import { AdmissionRequest, dryRun, Obstacle } from '../policy/admission';
import { proseAsRecorded } from '../platform/privacy/recorded';
import { lockClients } from './admissions';
import { NewDecision } from './records';
import { Release, releaseNow } from './release';
import { readState } from './state';

/** The parts of a held call that decide whether it may be sent. */
interface HeldCall {
  clientId: string;
  operation: string;
  /** The amount that counts against caps. Null if nothing counts. */
  usd: Decimal | null;
}

/** Why a held call cannot be approved. Only `decided` is permanent. */
export type ApprovalObstacle<Why> =
  | { kind: 'decided' }
  /** The client may not do this any more. */
  | { kind: 'forbidden'; why: Why }
  | Extract<Obstacle, { kind: 'stopped' | 'over_cap' }>;

/** The guards off: the call was compared with others when it was held. */
const NO_GUARDS = {
  duplicates: false,
  duplicateSeconds: 0,
  inFlightSeconds: 0,
  acrossClientsSeconds: 0,
  sendableForMs: 0,
  approvableForMs: 0,
};

/**
 * Approves a held call, and reserves its amount on today's cap, as if it had been requested today.
 * @param forbidden returns why the client may not do this any more, if so. It runs while the client's row is locked.
 * @returns the release if the call is approved, so that only the caller may send it. Otherwise the obstacle.
 */
export async function approveHeldCall<Why>(
  prisma: PrismaService,
  decision: NewDecision,
  held: HeldCall,
  forbidden: (tx: Prisma.TransactionClient) => Promise<Why | undefined>,
): Promise<{ kind: 'released'; release: Release } | ApprovalObstacle<Why>> {
  const { intentId } = decision;
  return prisma.$transaction(async (tx) => {
    const clients = await lockClients(tx, [held.clientId]);
    const waiting = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM (${callOf(intentId)}) AS call WHERE ${stateIn(['pending_approval'])}`;
    if (waiting.length === 0) return { kind: 'decided' };
    const why = await forbidden(tx);
    if (why !== undefined) return { kind: 'forbidden', why };
    const request = toRequest(intentId, held);
    const { state, today } = await readState(tx, [request], clients, NO_GUARDS);
    const obstacle = dryRun(request, state).obstacles.find(isObstacle);
    if (obstacle) return obstacle;
    const release = releaseNow();
    const isWritten = await insertApproval(tx, decision, held, today);
    return isWritten ? { kind: 'released', release } : { kind: 'decided' };
  });
}

/** @returns false if the call was rejected. A rejection takes no lock, so it may come at any time. */
async function insertApproval(
  tx: Prisma.TransactionClient,
  { intentId, bodyCommitment, reason, by, process }: NewDecision,
  { clientId, usd }: HeldCall,
  today: string,
): Promise<boolean> {
  const reservedOn = usd === null ? null : today;
  const written = await tx.$executeRaw`
    INSERT INTO decision (intent_id, kind, reason, body_commitment, client_id, key_id, actor, reserved_on, process)
    VALUES (${intentId}::uuid, 'approved', ${proseAsRecorded(reason)}, ${bodyCommitment}, ${by.clientId}::uuid, ${by.keyId}::uuid,
      ${by.actor}, ${reservedOn}::date, ${process}::integer)
    ON CONFLICT DO NOTHING`;
  if (written === 0) return false;
  if (usd !== null) {
    await tx.$executeRaw`
      INSERT INTO spending (client_id, day, usd) VALUES (${clientId}::uuid, ${reservedOn}::date, ${usd.toFixed()}::numeric)
      ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd`;
  }
  return true;
}

/** Returns the held call as a request of now. Its key, content and own limits were checked when it was held. */
function toRequest(id: string, { clientId, operation, usd }: HeldCall): AdmissionRequest {
  return {
    id,
    clientId,
    operation,
    usd,
    items: [],
    idempotencyKey: null,
    allowDuplicateOf: null,
    content: '',
    overOwnLimit: false,
    heldFor: null,
  };
}

function isObstacle(obstacle: Obstacle): obstacle is Extract<Obstacle, { kind: 'stopped' | 'over_cap' }> {
  return obstacle.kind === 'stopped' || obstacle.kind === 'over_cap';
}

function callOf(intentId: string): Prisma.Sql {
  return Prisma.sql`SELECT i.id, ${STATE_COLUMNS} FROM ${CALLS} WHERE i.id = ${intentId}::uuid`;
}

/** Decides that a held call is never sent. @returns false if it was already decided or had expired. */
export async function rejectHeldCall(prisma: PrismaService, decision: NewDecision): Promise<boolean> {
  const { intentId, bodyCommitment, reason, by, process } = decision;
  const written = await prisma.$executeRaw`
    INSERT INTO decision (intent_id, kind, reason, body_commitment, client_id, key_id, actor, process)
    SELECT id, 'rejected', ${proseAsRecorded(reason)}, ${bodyCommitment}, ${by.clientId}::uuid, ${by.keyId}::uuid, ${by.actor},
      ${process}::integer
    FROM (${callOf(intentId)}) AS call WHERE ${stateIn(['pending_approval'])}
    ON CONFLICT DO NOTHING`;
  return written === 1;
}
