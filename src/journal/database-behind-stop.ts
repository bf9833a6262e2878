import { Injectable, Logger } from '@nestjs/common';
import { EpochService } from '../platform/database/epoch.service';
import { PrismaService } from '../platform/database/prisma.service';
import { insertStopOfAll } from './stops';

/**
 * Tells all instances that their database is behind: by a stop of everything, which takes effect with its commit. The
 * others may not know what is missing.
 */
@Injectable()
export class DatabaseBehindStop {
  private readonly logger = new Logger('Epoch');

  constructor(
    private readonly prisma: PrismaService,
    epoch: EpochService,
  ) {
    epoch.whileBehind((detail) => this.set(detail));
  }

  /** Never rejects. The next heartbeat tries again. */
  private async set(reason: string): Promise<void> {
    try {
      const { id, added } = await insertStopOfAll(this.prisma, reason);
      if (added) this.logger.error({ stop_id: id }, 'everything is stopped, because the database is older than it was');
    } catch (err) {
      this.logger.error({ err }, 'the stop of an old database cannot be set, will retry');
    }
  }
}
