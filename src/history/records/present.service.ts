import { Inject, Injectable } from '@nestjs/common';
import { givenUpAfterMs } from '../../platform/config/upstream-timeouts';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Present, present } from '../../operations/lifecycle';
import { RunningConfig, SETTINGS } from '../../platform/config/config';

interface PresentRow {
  now: Date;
  live: number[];
}

const PRESENT = Prisma.sql`
  SELECT date_trunc('milliseconds', clock_timestamp()) AS now, ARRAY(SELECT live_processes()) AS live`;

/** Reads the time and the live processes from the database. */
@Injectable()
export class PresentService {
  constructor(
    private readonly prisma: ReaderPrisma,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /**
   * Reads the present. Call it before reading records. If a process recorded an outcome and ended in between, its call
   * would look abandoned.
   */
  async read(): Promise<Present> {
    const [row] = await this.prisma.$queryRaw<PresentRow[]>(PRESENT);
    return this.of(row);
  }

  /** The same, for long reads. */
  async readLong(): Promise<Present> {
    const [row] = await this.prisma.readLong<PresentRow>(PRESENT);
    return this.of(row);
  }

  private of(row: PresentRow | undefined): Present {
    if (!row) throw new Error('the database did not return the time');
    return present(row.now, row.live, givenUpAfterMs(this.settings));
  }
}
