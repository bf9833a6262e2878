import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Loaded } from '../config/config.module';
import { givenUpAfterMs } from '../config/upstream-timeouts';
import { PrismaService } from '../database/prisma.service';
import { uuidFloor } from '../database/uuid';

/** Often enough that the table stays small, and rare enough to cost nothing. */
const TURN_MS = 60_000;

/** Removes the contents that are too old to be noticed again: they are hashes of what names people. */
@Injectable()
export class RecentContents implements OnApplicationShutdown {
  private readonly logger = new Logger('RecentContents');
  private readonly keptMs: number;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly prisma: PrismaService,
    config: ConfigService<Loaded, true>,
  ) {
    const settings = config.get('settings', { infer: true });
    this.keptMs = settings.duplicateWindowSeconds * 1_000 + givenUpAfterMs(settings);
    this.timer = setInterval(() => void this.run(), TURN_MS);
    this.timer.unref();
  }

  /** @returns how many it removed. */
  async runOnce(): Promise<number> {
    const before = uuidFloor(new Date(Date.now() - this.keptMs));
    return this.prisma.$executeRaw`DELETE FROM recent_content WHERE intent_id < ${before}::uuid`;
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async run(): Promise<void> {
    try {
      await this.runOnce();
    } catch (err) {
      this.logger.warn({ err }, 'old contents could not be removed; again in a minute');
    }
  }
}
