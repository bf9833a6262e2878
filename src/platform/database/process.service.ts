import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Loaded } from '../config/config.module';
import { PrismaService } from './prisma.service';
import { SessionLock } from './session-lock';

/** The first of the lock's two numbers; live_processes() of the migrations looks for it. */
const PROCESS_LOCKS = 7_070_003;

/** Tells apart the processes that share a database, and knows which of them live: see live_processes() of the migrations. */
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

  /** Of this process; its lock is held for as long as the process lives. */
  get number(): number {
    return this.held;
  }

  /** Takes a number; to be awaited before anything is recorded. */
  async start(): Promise<void> {
    // Somebody may have one that comes again where the sequence began anew, as in a database that was restored.
    do {
      this.held = await this.next();
      this.lock = await SessionLock.take(this.databaseUrl, [PROCESS_LOCKS, this.held], () => this.tellOfLoss());
    } while (!this.lock);
  }

  /** Last of all: once what was in flight is recorded. */
  async onApplicationShutdown(): Promise<void> {
    await this.lock?.release();
  }

  /** The same number is taken again, for calls in flight bear it; until then they look as if nobody worked on them any more. */
  private tellOfLoss(): void {
    this.logger.warn({ process: this.held }, 'lost the database connection that holds the process number');
  }

  private async next(): Promise<number> {
    const [row] = await this.prisma.$queryRaw<[{ number: number }]>`
      SELECT nextval('process_number')::integer AS number`;
    return row.number;
  }
}
