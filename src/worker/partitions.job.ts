import { Injectable, Logger } from '@nestjs/common';
import { PrismaService } from '../platform/database/pools/prisma.service';
import { Job } from '../platform/jobs/job';
import { Turns } from '../platform/jobs/turns';

const CHECK_MS = 24 * 3_600_000;

/** Creates the partitions of this month and the next, every day. */
@Injectable()
export class PartitionsJob implements Job {
  readonly name = 'partitions';

  constructor(private readonly prisma: PrismaService) {}

  async run(turns: Turns): Promise<void> {
    while (!turns.areOver) {
      // A retry tomorrow is early enough: months are prepared ahead, and default partitions catch the rest.
      await this.prisma
        .makePartitions()
        .catch(() => new Logger('Partitions').warn('partitions for the next months not created'));
      await turns.wait(CHECK_MS);
    }
  }
}
