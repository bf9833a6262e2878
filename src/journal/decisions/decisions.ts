import { Author } from '../../access/auth/call';
import { now } from '../../continuity/heartbeat/instant';
import { CALLS, STATE_COLUMNS, stateIn } from '../../operations/lifecycle/lifecycle-sql';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { proseAsRecorded } from '../../platform/privacy/recorded';
import { AdmissionRequest, RefusingObstacle } from '../../policy/admission';
import { dryRun } from '../../policy/decide';
import { reservationOf } from '../../policy/limits/caps';
import { lockClients } from '../admission/admissions';
import { reserveForPayers } from '../admission/payers';
import { readState } from '../admission/state';
import { authorSql } from '../records/author';
import { Screened, Release } from '../records/records';
import { NO_PROCESS } from '../stops/recovery-gap';

/** A decision about a held call. */
export interface NewDecision {
  intentId: string;
  reason: string;
  /** Commitment of the decided body, as in the record of the request. */
  bodyCommitment: string | null;
  /** Screening verdict at approval. Null without a screening service. */
  screening: Screened | null;
  by: Author;
  /** The process that sends it after an approval. */
  process: number;
}

/** The parts of a held call that decide whether it may be sent. */
type HeldCall = Pick<
  AdmissionRequest,
  'clientId' | 'operation' | 'items' | 'usd' | 'feeUsd' | 'payments' | 'payers' | 'recipients'
>;

/** Obstacle to the approval of a held call. Only `decided` is permanent. */
export type ApprovalObstacle =
  | { kind: 'decided' }
  /** A recovery gap may have approved and paid it. The decider was not shown this transaction. */
  | { kind: 'maybe_paid'; transaction: string }
  /** An obstacle that would refuse a new request, too. */
  | RefusingObstacle;

/**
 * The key, the content and the per-call limits of a held call. They were checked when it was held. Its
 * record has the fee that it reserves, so the account decides nothing.
 */
const CHECKED: Omit<AdmissionRequest, 'id' | keyof HeldCall> = {
  account: '',
  endUserId: null,
  idempotencyKey: null,
  allowDuplicateOf: null,
  content: '',
  overOwnLimit: false,
  sendableInSeconds: null,
  heldFor: null,
};

/** The guards off: the call was compared with others when it was held. */
const NO_GUARDS = {
  duplicates: false,
  duplicateSeconds: 0,
  inFlightSeconds: 0,
  acrossClientsSeconds: 0,
  knownFees: 0,
};

/**
 * Approves a held call, and reserves its amount on today's cap like a request of today.
 * @param held with the unexplained transaction of its record, which the decider was shown.
 * @param brokenRule returns the rule that now forbids the call to its client. Runs while the client's row is
 * locked.
 * @returns the release if the call is approved. Only the caller may send it. Otherwise the obstacle.
 */
export async function approveHeldCall<Rule>(
  prisma: PrismaService,
  decision: NewDecision,
  { knownTransaction, ...held }: HeldCall & { knownTransaction: string | undefined },
  brokenRule: (tx: Prisma.TransactionClient) => Promise<Rule | undefined>,
): Promise<{ kind: 'released'; release: Release; reservedOn: string | null } | ApprovalObstacle | Rule> {
  const { intentId } = decision;
  return prisma.$transaction(async (tx) => {
    const clients = await lockClients(tx, [held.clientId]);
    const waiting = await tx.$queryRaw<unknown[]>`SELECT id FROM ${waitingCall(intentId)}`;
    if (waiting.length === 0) return { kind: 'decided' };
    const broken = await brokenRule(tx);
    if (broken !== undefined) return broken;
    const request = { ...CHECKED, ...held, id: intentId };
    const { state, today } = await readState(tx, [request], clients, NO_GUARDS, 'sent_only');
    const { obstacles, hold } = dryRun(request, state);
    if (obstacles[0]) return obstacles[0] as RefusingObstacle; // Without a key and limits: see CHECKED.
    const transaction = hold?.heldFor === 'unexplained_payment' ? hold.transaction : undefined;
    if (transaction !== undefined && transaction !== knownTransaction)
      return { kind: 'maybe_paid', transaction };
    const release = now();
    const reserved = reservationOf(held);
    const reservedOn = reserved === null ? null : today;
    // A rejection takes no lock, so it may have committed in between.
    if (!(await insertDecision(tx, 'approved', decision, reservedOn))) return { kind: 'decided' };
    if (reserved !== null) {
      await tx.$executeRaw`
        INSERT INTO spending (client_id, day, usd)
        VALUES (${held.clientId}::uuid, ${today}::date, ${reserved.toFixed()}::numeric)
        ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd`;
      await reserveForPayers(tx, intentId, today, reserved);
    }
    return { kind: 'released', release, reservedOn };
  });
}

/**
 * Decides that a held call is never sent.
 * @returns false if it was already decided or has expired.
 */
export async function rejectHeldCall(prisma: PrismaService, decision: NewDecision): Promise<boolean> {
  return insertDecision(prisma, 'rejected', decision, null);
}

/**
 * Declines a held call because another call with its idempotency key is paid or may be. The decider on record
 * is the requesting key, because no person decided.
 * @returns false if it was already decided or has expired.
 */
export async function rejectForKey(
  tx: Prisma.TransactionClient,
  held: string,
  reason: string,
): Promise<boolean> {
  const written = await tx.$executeRaw`
    INSERT INTO decision (intent_id, kind, reason, process, client_id, key_id)
    SELECT i.id, 'rejected', ${reason}, ${NO_PROCESS}::integer, i.client_id,
      (i.record::json ->> 'key_id')::uuid
    FROM intent i JOIN ${waitingCall(held)} ON waiting.id = i.id ON CONFLICT DO NOTHING`;
  return written === 1;
}

/** @returns false without a write if the call was already decided or has expired. */
async function insertDecision(
  tx: Prisma.TransactionClient,
  kind: 'approved' | 'rejected',
  { intentId, bodyCommitment, screening, reason, by, process }: NewDecision,
  reservedOn: string | null,
): Promise<boolean> {
  const written = await tx.$executeRaw`
    INSERT INTO decision (intent_id, kind, reason, body_commitment, reserved_on, process, screening,
      client_id, key_id, actor)
    SELECT id, ${kind}, ${proseAsRecorded(reason)}, decode(${bodyCommitment}, 'hex'), ${reservedOn}::date,
      ${process}::integer, ${screening}, ${authorSql(by)}
    FROM ${waitingCall(intentId)} ON CONFLICT DO NOTHING`;
  return written === 1;
}

/** Selects the call unless it was decided or has expired. */
function waitingCall(intentId: string): Prisma.Sql {
  return Prisma.sql`(SELECT id FROM (SELECT i.id, ${STATE_COLUMNS} FROM ${CALLS}
    WHERE i.id = ${intentId}::uuid) AS call
    WHERE ${stateIn(['pending_approval'])}) AS waiting`;
}
