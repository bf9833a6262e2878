import { Injectable } from '@nestjs/common';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Problem } from '../../platform/errors/problem';

/** Records per statement, or fewer if they have many payouts. A statement takes some tenths of a second. */
const BATCH = 5_000;

/** How long a search waits for the index. Less than the statement timeout, and less than callers wait. */
const PATIENCE_MS = 8_000;

/** Updates the search index (index_calls of the migrations). */
@Injectable()
export class IndexService {
  constructor(private readonly prisma: ReaderPrisma) {}

  /**
   * Indexes everything that has committed, so that a search finds it.
   * @throws Problem if that takes longer than a search can wait.
   */
  async catchUp(): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (await this.runOnce()) {
      if (Date.now() > deadline) {
        const text = 'The search index is still catching up with the records. Search again in a minute.';
        throw new Problem('database_unavailable', { text, retryAfter: 60 });
      }
    }
  }

  /** @returns whether there may be more to index. */
  async runOnce(): Promise<boolean> {
    const [row] = await this.prisma.readLong<{ more: boolean }>({
      text: 'SELECT index_calls($1::integer) AS more',
      values: [BATCH],
    });
    return row?.more ?? false;
  }
}
