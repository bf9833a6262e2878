import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReaderPrisma } from '../../database/reader-prisma';
import { ManifestCheckpoint } from './format';

/** Records are sealed within seconds. */
const PATIENCE_MS = 3_000;
const ASK_AGAIN_MS = 100;

/** Reads what the log has signed. */
@Injectable()
export class CheckpointsService {
  constructor(private readonly prisma: ReaderPrisma) {}

  /**
   * The latest checkpoint, after a short wait for one that covers all that had been recorded before an access; null where
   * nothing was ever sealed.
   */
  async covering(accessId: string): Promise<ManifestCheckpoint | null> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const latest = await this.latest(accessId);
      if (latest?.covers_beginning || performance.now() > until) return latest;
      await sleep(ASK_AGAIN_MS);
    }
  }

  private async latest(accessId: string): Promise<ManifestCheckpoint | null> {
    const [latest] = await this.prisma.$queryRaw<{ size: bigint; note: string; covers: boolean }[]>`
      SELECT c.size, c.note, (c.complete_until >= a.read_at) IS TRUE AS covers
      FROM checkpoint c LEFT JOIN access a ON a.id = ${accessId}::uuid ORDER BY c.size DESC LIMIT 1`;
    return latest ? { size: Number(latest.size), note: latest.note, covers_beginning: latest.covers } : null;
  }
}
