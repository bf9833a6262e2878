import { randomInt } from 'node:crypto';
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { overAfterMs } from '../../platform/config/upstream/upstream-timeouts';
import { LOCKS } from '../../platform/database/locks';
import { sessionUrlOf } from '../../platform/database/pools/pools';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SessionLock } from '../../platform/database/pools/session-lock';
import { ConnectionsService } from './connections.service';

/** Numbers are integers of the database. */
const END_OF_NUMBERS = 2 ** 31;

/**
 * Identifies the processes that share a database, and their lives. See live_processes() of the migrations.
 * See docs/internals/decisions/operation/0008-who-is-alive.md.
 */
@Injectable()
export class ProcessService implements OnApplicationShutdown {
  private readonly logger = new Logger('Process');
  private readonly sessionUrl: string;
  private readonly inFlightMs: number;
  private held = 0;
  private lock: SessionLock | undefined;

  constructor(
    private readonly prisma: PrismaService,
    connections: ConnectionsService,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    connections.onMove(() => this.lock?.renew());
    this.sessionUrl = sessionUrlOf(settings);
    this.inFlightMs = overAfterMs(settings);
  }

  /** The number of this process. Its lock is held while the process lives. */
  get number(): number {
    return this.held;
  }

  /**
   * Takes a number. Await it before recording anything. Can be repeated after a failure. Numbers are random,
   * because a counter is restored with the database. Two processes would then share a number if one starts
   * while the other's lock is lost.
   */
  async start(): Promise<void> {
    while (!this.lock) {
      this.held = randomInt(1, END_OF_NUMBERS);
      this.lock = await SessionLock.take(this.sessionUrl, [LOCKS.process, this.held], {
        ofLoss: () => this.tellOfLoss(),
        // A restored database lacks this process and its timeouts.
        ofReturn: () => void this.record().catch((err: unknown) => this.tellOfFailure(err)),
      });
    }
    await this.record();
  }

  /** Runs last, after everything in flight is recorded. */
  async onApplicationShutdown(): Promise<void> {
    await this.lock?.release();
  }

  /** Logs the loss of the lock. Takes the same number again: calls in flight have it. */
  private tellOfLoss(): void {
    this.logger.warn(
      { process_number: this.held },
      'lost the database connection that holds the process number',
    );
  }

  private tellOfFailure(err: unknown): void {
    this.logger.warn({ process_number: this.held, err }, 'cannot record the timeouts of this process');
  }

  /** Records the longest time that calls of this process can be in flight. */
  private async record(): Promise<void> {
    await this.prisma.$executeRaw`
      INSERT INTO process (number, in_flight_ms) VALUES (${this.held}::integer, ${this.inFlightMs}::integer)
      ON CONFLICT (number) DO UPDATE
        SET in_flight_ms = greatest(process.in_flight_ms, EXCLUDED.in_flight_ms)`;
  }
}
