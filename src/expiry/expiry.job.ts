import { Inject, Injectable, Logger } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../platform/config/config';
import { PrismaService } from '../platform/database/pools/prisma.service';
import { Job } from '../platform/jobs/job';
import { Turns } from '../platform/jobs/turns';
import { EXPIRIES } from './expiries';

/** Keeps the tables small at a negligible cost. */
const INTERVAL_MS = 60_000;

/** Deletes expired rows every minute. A table that fails does not keep the others from their turn. */
@Injectable()
export class ExpiryJob implements Job {
  readonly name = 'expire';
  private readonly logger = new Logger('Expiry');

  constructor(
    private readonly prisma: PrismaService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async run(turns: Turns): Promise<void> {
    while (!turns.areOver) {
      for (const { table, remove } of EXPIRIES) {
        await remove(this.prisma, this.settings).catch((err: unknown) =>
          this.logger.warn({ err, table }, 'expired rows not removed, will retry in a minute'),
        );
      }
      await turns.wait(INTERVAL_MS);
    }
  }
}
