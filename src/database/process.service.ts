import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, ClientConfig } from 'pg';
import { Loaded } from '../config/config.module';
import { PrismaService } from './prisma.service';
import { takeSessionLock } from './session-lock';

/** The first of the lock's two numbers; live_processes() of the migrations looks for it. */
const PROCESS_LOCKS = 7_070_003;

/** Waits before a lost lock is taken again. Until it is, calls in flight look as if nobody worked on them any more. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

/** Tells the processes that share a database apart, and who of them lives: see live_processes() of the migrations. */
@Injectable()
export class ProcessService implements OnApplicationShutdown {
  private readonly logger = new Logger('Process');
  private readonly connection: ClientConfig;
  private readonly stopping = new AbortController();
  private held = 0;
  private lock: Client | undefined;
  private retaking: Promise<void> | undefined;

  constructor(
    private readonly prisma: PrismaService,
    config: ConfigService<Loaded, true>,
  ) {
    this.connection = {
      connectionString: config.get('settings', { infer: true }).databaseUrl,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      // It is idle for as long as the process lives: nothing else would notice that the other end is gone.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    };
  }

  /** Of this process; its lock is held for as long as the process lives. */
  get number(): number {
    return this.held;
  }

  /** Takes a number; to be awaited before anything is recorded. */
  async start(): Promise<void> {
    // Somebody may have one that comes again where the sequence began anew, as in a database that was restored.
    do this.held = await this.next();
    while (!(await this.take()));
  }

  /** Last of all: once what was in flight is recorded. */
  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.retaking;
    await this.lock?.end();
  }

  /** @returns false if somebody else holds it. */
  private async take(): Promise<boolean> {
    const lock = await takeSessionLock(this.connection, [PROCESS_LOCKS, this.held]);
    lock?.once('end', () => {
      if (!this.stopping.signal.aborted) this.retaking = this.takeAgain();
    });
    this.lock = lock;
    return lock !== undefined;
  }

  /** The same number, for calls in flight bear it. The server may know later than we do that our old connection is gone. */
  private async takeAgain(): Promise<void> {
    this.logger.warn({ process: this.held }, 'the connection that holds the number of this process was lost');
    for (let wait = FIRST_WAIT_MS; !this.stopping.signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      const taken = await this.take().catch(() => false);
      if (taken) return;
      await sleep(wait, undefined, { signal: this.stopping.signal }).catch(() => undefined); // woken to stop
    }
  }

  private async next(): Promise<number> {
    const [row] = await this.prisma.$queryRaw<[{ number: number }]>`
      SELECT nextval('process_number')::integer AS number`;
    return row.number;
  }
}
