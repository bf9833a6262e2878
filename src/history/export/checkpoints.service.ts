import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReaderPrisma } from '../../platform/database/reader-prisma';

/** Records are sealed within seconds. */
const PATIENCE_MS = 3_000;
const ASK_AGAIN_MS = 100;

/** Reads the signed checkpoints of the log. */
@Injectable()
export class CheckpointsService {
  constructor(private readonly prisma: ReaderPrisma) {}

  /**
   * Returns the size of the latest checkpoint. Waits a moment for one that covers everything recorded before an access.
   * Returns null if nothing was ever sealed.
   */
  async covering(accessId: string): Promise<number | null> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const [latest] = await this.prisma.$queryRaw<{ size: bigint; covers: boolean }[]>`
        SELECT c.size, (c.complete_until >= a.read_at) IS TRUE AS covers
        FROM checkpoint c LEFT JOIN access a ON a.id = ${accessId}::uuid ORDER BY c.size DESC LIMIT 1`;
      if (!latest) return null;
      if (latest.covers || performance.now() > until) return Number(latest.size);
      await sleep(ASK_AGAIN_MS);
    }
  }
}
