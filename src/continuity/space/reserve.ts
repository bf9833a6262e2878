import { Logger } from '@nestjs/common';
import { StorageService } from '../../platform/storage/storage.service';
import { codeOf } from '../../platform/errors/error-code';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { causeOfState } from '../../platform/database/pools/unavailable';

/** How often the reserve is looked at, and how long the disk must not have been full before it is built again. */
const EVERY_MS = 5_000;

/**
 * Space that the database keeps free for outcomes, because nobody can ask it how much it has. It is a table without
 * content (space_reserve of the migrations). As soon as the disk is full, the table is emptied: the outcomes of the calls in
 * flight then fit, and nothing new is admitted. Once the disk has space for the reserve and as much again, the reserve is
 * built and admission resumes.
 *
 * The table is not logged, so a crash and a failover leave it empty. It is then built again without a pause.
 */
export class Reserve {
  private readonly logger = new Logger('Space');
  private lookedAt = -Infinity;
  private releasing: Promise<void> | undefined;
  /** Its size when last seen. Undefined before. */
  bytes: number | undefined;

  constructor(
    private readonly prisma: PrismaService,
    private readonly storage: StorageService,
    private readonly wantedBytes: number,
  ) {
    prisma.watchErrors((code) => {
      if (causeOfState(code) === 'disk_full')
        this.releasing ??= this.release().finally(() => (this.releasing = undefined));
    });
  }

  /** Builds the reserve if it is missing and there is space for it. Never rejects: it is called again. */
  async keep(): Promise<void> {
    if (performance.now() - this.lookedAt < EVERY_MS || this.releasing) return;
    this.lookedAt = performance.now();
    try {
      const [row] = await this.prisma.reader.$queryRaw<{ bytes: number }[]>`
        SELECT keep_space_reserve(${this.wantedBytes}::bigint)::float8 AS bytes`;
      this.bytes = row?.bytes;
      this.storage.lower('database', 'disk_full', EVERY_MS);
    } catch {
      // What the server answered is known to FailuresService. A full disk stays full until the reserve fits.
    }
  }

  private async release(): Promise<void> {
    this.lookedAt = performance.now();
    try {
      const [row] = await this.prisma.reader.$queryRaw<{ bytes: number }[]>`
        SELECT release_space_reserve()::float8 AS bytes`;
      this.bytes = 0;
      if (row && row.bytes > 0) this.logger.warn({ bytes: row.bytes }, 'the disk is full, reserved space released');
    } catch (error) {
      this.logger.error({ code: codeOf(error) }, 'the disk is full, and the reserved space could not be released');
    }
  }
}
