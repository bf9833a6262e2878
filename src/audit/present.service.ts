import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Loaded } from '../config/config.module';
import { givenUpAfterMs } from '../config/upstream-timeouts';
import { PrismaService } from '../database/prisma.service';
import { Present, present } from './outcome';

/** Asks the database how late it is and which processes live. */
@Injectable()
export class PresentService {
  private readonly givenUpAfterMs: number;

  constructor(
    private readonly prisma: PrismaService,
    config: ConfigService<Loaded, true>,
  ) {
    this.givenUpAfterMs = givenUpAfterMs(config.get('settings', { infer: true }));
  }

  /**
   * To be asked before the records are read: a process that records an outcome and ends in between would else leave a call
   * that looks abandoned.
   */
  async read(): Promise<Present> {
    const [row] = await this.prisma.$queryRaw<{ now: Date; live: number[] }[]>`
      SELECT date_trunc('milliseconds', clock_timestamp()) AS now, ARRAY(SELECT live_processes()) AS live`;
    if (!row) throw new Error('the database did not say how late it is');
    return present(row.now, row.live, this.givenUpAfterMs);
  }
}
