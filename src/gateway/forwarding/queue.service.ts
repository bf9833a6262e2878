import { setTimeout as sleep } from 'node:timers/promises';
import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { OperationCall } from '../../access/auth/call';
import { MetricsService } from '../../http/metrics/metrics.service';
import { readPrefer } from '../../http/validation/prefer';
import { openQueued, QueueState, readQueue } from '../../journal/queue/queue';
import { mayBeQueued } from '../../operations/catalogue/catalogue';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { waitAtMost } from '../../platform/database/pools/timeouts';

/** Pause after a failed statement. */
const RETRY_MS = 1_000;

/** Time limit of a metric, in ms. */
const TIMEOUT_MS = 1_000;

/** Rows per statement. */
const MAX_BATCH = 1_000;

/** Returns whether a request is queued if it is admitted: its caller prefers an answer before it is sent. */
export function mayQueue({ prefer, operation }: OperationCall): boolean {
  return mayBeQueued(operation) && readPrefer(prefer).respondAsync;
}

/**
 * Opens queued calls to all instances once their admission is known, and wakes the dispatcher of this one.
 * See docs/internals/decisions/money/0070-queued-calls.md.
 */
@Injectable()
export class QueueService implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Queue');
  private waiting: string[] = [];
  private opening: Promise<void> | undefined;
  private readonly wakers: (() => void)[] = [];
  private isStopping = false;

  constructor(
    private readonly prisma: PrismaService,
    metrics: MetricsService,
  ) {
    let reading: Promise<QueueState | undefined> | undefined; // both metrics are asked at once
    const read = () =>
      (reading ??= waitAtMost(
        readQueue(prisma).catch(() => undefined),
        TIMEOUT_MS,
      ).finally(() => (reading = undefined)));
    metrics.watch(
      'payout_proxy_queued_calls',
      'Calls that wait for their turn to be sent (Prefer: respond-async). Absent while the database does ' +
        'not answer.',
      async () => (await read())?.calls,
    );
    metrics.watch(
      'payout_proxy_queue_oldest_age_seconds',
      'Age of the oldest call that waits for its turn. 0 without one.',
      async () => {
        const queue = await read();
        if (!queue?.oldestSince) return queue && 0;
        return Math.max(0, (clock.nowMs() - queue.oldestSince.getTime()) / 1_000);
      },
    );
  }

  /** Opens a call whose admission is known. Does not wait: if this process ends, others take the call. */
  open(callId: string): void {
    this.waiting.push(callId);
    this.opening ??= this.openAll().finally(() => (this.opening = undefined));
  }

  /** Calls back for each batch of calls of this instance that may be sent, as long as it runs. */
  onOpened(wake: () => void): void {
    this.wakers.push(wake);
  }

  /** Runs after the last request. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.opening;
  }

  private async openAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, MAX_BATCH);
      try {
        await openQueued(this.prisma, batch);
      } catch (err) {
        this.logger.warn({ err, calls: batch.length }, 'queued calls not opened, will retry');
        if (this.isStopping) return; // others take them once this process is gone
        this.waiting.unshift(...batch);
        await sleep(RETRY_MS, undefined, { ref: false });
      }
      for (const wake of this.wakers) wake();
    }
  }
}
