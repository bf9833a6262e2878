import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { GroupCommit } from '../platform/database/group-commit';
import { REQUEST_PATIENCE_MS, waitAtMost } from '../platform/database/patience';
import { Timeouts } from '../platform/config/upstream-timeouts';
import { PrismaService } from '../platform/database/prisma.service';
import { asRecorded } from '../platform/privacy/recorded';
import { lockClients } from './admissions';
import { insertion } from './insertion';
import { NewRefusal, NewSettlement } from './records';
import { SettledCall, settleWithin } from './settlements';

/** More than are ever refused at the same time. */
const MAX_BATCH_ROWS = 5_000;

/** The refusals of calls that may be admitted nevertheless, by a commit that was reported as failed. */
export const MAY_HAVE_INTENT = ['database_unavailable', 'stopped'];

/** How long the answer to a refused request waits for the record of it, and at least: it may have waited long before. */
const PATIENCE_MS = { most: 1_000, least: 100 };

/** Waits between attempts, for about an hour. Until the refusal is written, a reservation and a key may stay taken. */
const RETRIES_MS = [500, 2_000, 5_000, 15_000, ...Array<number>(120).fill(30_000)];

/**
 * Records rejected requests. A call that was rejected because the proxy's database failed may still have an intent, if its
 * commit was reported as failed or came late. Its reservation is then released. An admission that comes even later finds
 * the rejection, and admits nothing.
 */
export class RefusalWriter {
  private readonly logger = new Logger('Journal');
  private readonly refusals: GroupCommit<NewRefusal>;

  constructor(prisma: PrismaService, timeouts: Timeouts) {
    this.refusals = new GroupCommit<NewRefusal>(
      (batch) => insertRefusals(prisma, batch, timeouts),
      () => 1,
      MAX_BATCH_ROWS,
      { patienceMs: REQUEST_PATIENCE_MS, confirm: () => prisma.confirm() },
    );
  }

  /** Resolves once the refusal is durable. */
  record(refusal: NewRefusal): Promise<void> {
    return this.refusals.add(refusal);
  }

  /**
   * For a refusal whose app is about to be answered. Waits a moment. Then the refusal is retried in the background.
   * @param leftMs how long the request could still wait.
   * @returns whether it is durable.
   */
  async recordSoon(refusal: NewRefusal, leftMs: number): Promise<boolean> {
    const recording = this.record(refusal).then(
      () => true,
      (err: unknown) => {
        const { id, code } = refusal;
        this.logger.error({ call_id: id, code, err }, 'refusal not recorded, will retry');
        void this.recordLater(refusal);
        return false;
      },
    );
    const patienceMs = Math.max(PATIENCE_MS.least, Math.min(PATIENCE_MS.most, leftMs));
    return (await waitAtMost(recording, patienceMs)) ?? false;
  }

  /** Retries. Without its refusal, an unsent call with an intent would stay in doubt until a person settles it. */
  private async recordLater(refusal: NewRefusal): Promise<void> {
    for (const wait of RETRIES_MS) {
      await sleep(wait, undefined, { ref: false });
      try {
        return await this.record(refusal);
      } catch {
        this.logger.warn({ call_id: refusal.id, code: refusal.code }, 'refusal not recorded');
      }
    }
    this.logger.error({ call_id: refusal.id, code: refusal.code }, 'refusal not recorded, no further retries');
  }
}

/**
 * Writes refused requests in one statement and commit. Then releases the reservations of requests that were refused
 * because of a database failure, but were admitted after all.
 */
async function insertRefusals(prisma: PrismaService, refusals: NewRefusal[], timeouts: Timeouts): Promise<void> {
  await prisma.$executeRaw`${insertion('refusal', refusals.map(toRow))} ON CONFLICT DO NOTHING`;
  const doubtful = refusals.filter(({ code }) => MAY_HAVE_INTENT.includes(code));
  const calls = doubtful.map(({ id, caller }) => ({ id, clientId: caller.clientId }));
  if (calls.length > 0) await releaseRefused(prisma, calls, timeouts);
}

/**
 * Settles refused calls as not executed after the refusals are committed, under the lock of their clients. An admission
 * that held the lock before has committed, so its reservation is visible here. A later admission sees the refusals
 * (none_refused() of the migrations) and reserves nothing. Calls that are settled already stay as they are.
 * @param refused calls whose refusals are committed.
 * @returns how many were settled.
 */
export async function releaseRefused(
  prisma: PrismaService,
  refused: { id: string; clientId: string }[],
  timeouts: Timeouts,
): Promise<number> {
  const clients = [...new Set(refused.map(({ clientId }) => clientId))];
  return prisma.$transaction(async (tx) => {
    await lockClients(tx, clients);
    const admitted = await tx.intent.findMany({
      select: { id: true },
      where: { id: { in: refused.map(({ id }) => id) }, settlements: { none: {} } },
    });
    let settled = 0;
    for (const { id } of admitted)
      if ((await settleWithin(tx, id, timeouts, settlementOfRefused)) === 'written') settled += 1;
    return settled;
  });
}

function settlementOfRefused({ intent, state, items, number }: SettledCall): NewSettlement | undefined {
  if (state !== 'refused' || number > 0) return undefined;
  return {
    intentId: intent.id,
    source: 'answer',
    reason: 'The call was refused before it was sent, because its admission was not confirmed in time.',
    by: null,
    entries: items.map(({ position }) => ({ position, entry: 'not_executed' })),
    evidence: { reads: [], calls: [] },
  };
}

function toRow(refusal: NewRefusal) {
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
