import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { MetricsService } from '../../http/metrics/metrics.service';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { Prisma } from '../../platform/database/generated/client';
import { GroupCommit } from '../../platform/database/pools/group-commit';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { REQUEST_TIMEOUT_MS, waitAtMost } from '../../platform/database/pools/timeouts';
import { DATABASE_CODES } from '../../platform/errors/outages';
import { commitment, hex, newSalt } from '../../platform/privacy/commitment';
import { asRecorded } from '../../platform/privacy/recorded';
import { StorageService } from '../../platform/storage/storage.service';
import { lockClients } from '../admission/admissions';
import { credentialDocument } from '../records/credential-documents';
import { insertion } from '../records/document-sql';
import { NewRefusal, NewSettlement } from '../records/records';
import { REFUSAL_MEMBERS } from '../records/request-members';
import { SettledCall } from '../settlement/settled-call';
import { settleAllWithin } from '../settlement/settlements';

/** Batch size. Above the number of concurrent refusals. */
const MAX_BATCH_ROWS = 5_000;

/** Codes of refusals whose calls may still be admitted, by a commit that was reported as failed. */
export const MAY_HAVE_INTENT: readonly string[] = [...DATABASE_CODES, 'stopped'];

/** Bounds in ms of the wait for a refusal's record before its answer. The minimum is for old requests. */
const TIMEOUT_MS = { most: 1_000, least: 100 };

/** Waits between attempts, in ms. The last repeats. A reservation and a key may stay taken meanwhile. */
const RETRIES_MS = [500, 2_000, 5_000, 15_000, 30_000];

/** About an hour of attempts. */
const MAX_TRIES = 120;

/** Bounds the refusals in memory, to some tens of megabytes. */
const MAX_WAITING = 10_000;

/** Concurrent retries. */
const AT_ONCE = 500;

interface QueuedRefusal {
  refusal: NewRefusal;
  tries: number;
}

/**
 * Records rejected requests. A call that was rejected because the proxy's database failed may still have an
 * intent, from a commit that was reported as failed or was late. Its reservation is then released. A later
 * admission finds the rejection and admits nothing.
 */
@Injectable()
export class RefusalWriter {
  private readonly logger = new Logger('Journal');
  private readonly refusals: GroupCommit<NewRefusal>;
  private waiting: QueuedRefusal[] = [];
  private isWorking = false;

  constructor(
    prisma: PrismaService,
    private readonly storage: StorageService,
    private readonly metrics: MetricsService,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    const timeouts: Timeouts = settings;
    this.refusals = new GroupCommit<NewRefusal>(
      (batch) => insertRefusals(prisma, batch, timeouts),
      () => 1,
      MAX_BATCH_ROWS,
      { timeoutMs: REQUEST_TIMEOUT_MS, confirm: () => prisma.confirm() },
    );
    metrics.watch(
      'payout_proxy_refusals_waiting',
      'Rejected requests that are not recorded yet, because the database takes no writes.',
      () => this.waiting.length,
    );
  }

  /** Resolves once the refusal is durable. */
  record(refusal: NewRefusal): Promise<void> {
    return this.refusals.add(refusal);
  }

  /**
   * Records a refusal whose app is about to be answered. Waits briefly, and not at all while the database
   * takes no writes. The refusal is then retried in the background.
   * @param leftMs how long the request may still wait.
   * @returns whether it is durable.
   */
  async recordSoon(refusal: NewRefusal, leftMs: number): Promise<boolean> {
    if (this.isHopeless) {
      this.recordLater(refusal);
      return false;
    }
    const recording = this.record(refusal).then(
      () => true,
      (err: unknown) => {
        const { id, code } = refusal;
        if (!this.isHopeless)
          this.logger.error({ call_id: id, code, err }, 'refusal not recorded, will retry');
        this.recordLater(refusal);
        return false;
      },
    );
    const timeoutMs = Math.max(TIMEOUT_MS.least, Math.min(TIMEOUT_MS.most, leftMs));
    return (await waitAtMost(recording, timeoutMs)) ?? false;
  }

  private get isHopeless(): boolean {
    return this.storage.failures.some(({ place }) => place === 'database');
  }

  /** Retries. Without a refusal, an unsent call with an intent stays in doubt until a person settles it. */
  private recordLater(refusal: NewRefusal): void {
    if (this.waiting.length >= MAX_WAITING) {
      this.waiting.shift();
      this.metrics.droppedRefusals.inc();
    }
    this.waiting.push({ refusal, tries: 0 });
    if (!this.isWorking) void this.work();
  }

  private async work(): Promise<void> {
    this.isWorking = true;
    for (let round = 0; this.waiting.length > 0;) {
      await sleep(RETRIES_MS[round] ?? RETRIES_MS.at(-1), undefined, { ref: false });
      if (this.isHopeless) {
        round = 0; // Written soon after the database takes writes again.
        continue;
      }
      const batch = this.waiting.splice(0, AT_ONCE);
      const results = await Promise.allSettled(batch.map(({ refusal }) => this.record(refusal)));
      const failed = batch.filter((_one, place) => results[place]?.status === 'rejected');
      for (const one of failed) one.tries += 1;
      this.waiting.unshift(...failed.filter(({ tries }) => tries < MAX_TRIES));
      for (const { refusal } of failed.filter(({ tries }) => tries >= MAX_TRIES))
        this.logger.error(
          { call_id: refusal.id, code: refusal.code },
          'refusal not recorded, no further retries',
        );
      round = failed.length > 0 ? round + 1 : 0;
    }
    this.isWorking = false;
  }
}

/**
 * Writes refusals in one statement and commit. Then releases the reservations of requests that were refused
 * for a database failure but admitted after all.
 */
async function insertRefusals(
  prisma: PrismaService,
  refusals: NewRefusal[],
  timeouts: Timeouts,
): Promise<void> {
  const salted = refusals.map((refusal) => ({ refusal, salt: newSalt() }));
  const records = Prisma.sql`${insertion('refusal', salted.map(toRow))} ON CONFLICT DO NOTHING`;
  const keys = salted.flatMap(toKey);
  await prisma.$executeRaw(
    keys.length === 0
      ? records
      : Prisma.sql`WITH records AS (${records}) ${insertion('refusal_key', keys)} ON CONFLICT DO NOTHING`,
  );
  const doubtful = refusals.filter(({ code }) => MAY_HAVE_INTENT.includes(code));
  const calls = doubtful.map(({ id, caller }) => ({ id, clientId: caller.clientId }));
  if (calls.length > 0) await releaseRefused(prisma, calls, timeouts);
}

/**
 * Settles committed refusals as not executed, under the lock of their clients. An admission that held the
 * lock before has committed, so its reservation is visible here. A later admission sees the refusals
 * (none_refused() of the migrations) and reserves nothing. Settled calls stay as they are.
 * @param refused calls with committed refusals.
 * @returns the number of settled calls.
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
    const ids = admitted.map(({ id }) => id);
    const results = await settleAllWithin(tx, ids, timeouts, settlementOfRefused);
    return [...results.values()].filter((result) => result === 'written').length;
  });
}

function settlementOfRefused({ intent, state, items, number }: SettledCall): NewSettlement | undefined {
  if (state !== 'refused' || number > 0) return undefined;
  return {
    intentId: intent.id,
    source: 'answer',
    reason: 'The call was refused before it was sent, because its admission was not confirmed in time.',
    entries: items.map(({ position }) => ({ position, entry: 'not_executed' })),
  };
}

/** A refusal, and the salt of its idempotency key. */
interface Salted {
  refusal: NewRefusal;
  salt: Buffer;
}

/** The erasable row with the key. */
function toKey({ refusal: { id, idempotencyKey: key }, salt }: Salted): object[] {
  return key === null ? [] : [{ refusal_id: id, salt: hex(salt), key }];
}

function toRow({ refusal, salt }: Salted): object {
  const row: Record<string, unknown> = {
    status: refusal.status,
    code: refusal.code,
    detail: asRecorded(refusal.detail),
    faults: refusal.faults.map(({ pointer, detail }) => ({
      pointer: asRecorded(pointer),
      detail: asRecorded(detail),
    })),
    fault_count: refusal.faultsTotal,
    idempotency_key_commitment: hex(commitment(salt, refusal.idempotencyKey)),
    credential: credentialDocument(refusal),
    first_call_id: refusal.firstCallId,
  };
  for (const { name, of } of REFUSAL_MEMBERS) {
    const value = of(refusal) ?? null;
    row[name] = value instanceof Buffer ? hex(value) : value;
  }
  return row;
}
