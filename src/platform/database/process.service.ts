import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Loaded } from '../config/config.module';
import { PrismaService } from './prisma.service';
import { SessionLock } from './session-lock';

/** The first of the two numbers of the lock. live_processes() of the migrations looks for it. */
const PROCESS_LOCKS = 7_070_003;

/**
 * Identifies the processes that share a database, and tells which are alive. See live_processes() of the migrations.
 */
@Injectable()
export class ProcessService implements OnApplicationShutdown {
  private readonly logger = new Logger('Process');
  private readonly databaseUrl: string;
  private held = 0;
  private lock: SessionLock | undefined;

  constructor(
    private readonly prisma: PrismaService,
    config: ConfigService<Loaded, true>,
  ) {
    this.databaseUrl = config.get('settings', { infer: true }).databaseUrl;
  }

  /** The number of this process. Its lock is held as long as the process lives. */
  get number(): number {
    return this.held;
  }

  /** Takes a number. Await it before anything is recorded. */
  async start(): Promise<void> {
    // In a restored database, the sequence starts again, so a number may be in use.
    do {
      this.held = await this.next();
      this.lock = await SessionLock.take(this.databaseUrl, [PROCESS_LOCKS, this.held], () => this.tellOfLoss());
    } while (!this.lock);
  }

  /** Runs last, after everything in flight is recorded. */
  async onApplicationShutdown(): Promise<void> {
    await this.lock?.release();
  }

  /**
   * Logs the loss of the lock. The same number is taken again, because calls in flight have it. Until then, they look
   * abandoned.
   */
  private tellOfLoss(): void {
    this.logger.warn({ process_number: this.held }, 'lost the database connection that holds the process number');
  }

  private async next(): Promise<number> {
    const [row] = await this.prisma.$queryRaw<[{ number: number }]>`
      SELECT nextval('process_number')::integer AS number`;
    return row.number;
  }
}
