import { Logger } from '@nestjs/common';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { causeOfState } from '../../platform/database/pools/unavailable';
import { codeOf } from '../../platform/errors/error-code';
import { StorageService } from '../../platform/storage/storage.service';

/** Interval of checks, and time without a full disk before the reserve is rebuilt, in ms. */
const EVERY_MS = 5_000;

/**
 * Space that the database reserves for outcomes, because it cannot report its free space. It is a table
 * without content (space_reserve of the migrations). When the disk is full, the table is truncated: the
 * outcomes of calls in flight then fit, and nothing new is admitted. Once the disk has space for twice the
 * reserve, the reserve is rebuilt and admission resumes.
 *
 * The table is unlogged, so a crash and a failover leave it empty. It is then rebuilt without a pause.
 */
export class Reserve {
  private readonly logger = new Logger('Space');
  private lookedAt = -Infinity;
  private releasing: Promise<void> | undefined;
  /** Last seen size. Undefined before. */
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

  /** Builds a missing reserve if there is space. Never rejects, because it is called again. */
  async keep(): Promise<void> {
    if (performance.now() - this.lookedAt < EVERY_MS || this.releasing) return;
    this.lookedAt = performance.now();
    try {
      const [row] = await this.prisma.reader.$queryRaw<{ bytes: number }[]>`
        SELECT keep_space_reserve(${this.wantedBytes}::bigint)::float8 AS bytes`;
      this.bytes = row?.bytes;
      this.storage.lower('database', 'disk_full', EVERY_MS);
    } catch {
      // FailuresService knows the server's answer. A full disk stays full until the reserve fits.
    }
  }

  private async release(): Promise<void> {
    this.lookedAt = performance.now();
    try {
      const [row] = await this.prisma.reader.$queryRaw<{ bytes: number }[]>`
        SELECT release_space_reserve()::float8 AS bytes`;
      this.bytes = 0;
      if (row && row.bytes > 0)
        this.logger.warn({ bytes: row.bytes }, 'the disk is full, reserved space released');
    } catch (error) {
      this.logger.error(
        { code: codeOf(error) },
        'the disk is full, and the reserved space could not be released',
      );
    }
  }
}
