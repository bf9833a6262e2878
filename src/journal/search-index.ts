import { Prisma } from '../platform/database/generated/client';
import { DatabaseTooSlow } from '../platform/database/patience';

/** Records per statement. It takes some tenths of a second. */
const BATCH = 5_000;

/** How long to wait for the index. Less than callers wait. */
const PATIENCE_MS = 3_000;

/**
 * Brings the search index up to date with everything that has committed, so that it answers like the records.
 * @throws DatabaseTooSlow if too much is left.
 */
export async function catchUpIndex(prisma: Prisma.TransactionClient): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const [row] = await prisma.$queryRaw<{ state: string }[]>`SELECT index_calls(${BATCH}::integer) AS state`;
    if (row?.state === 'done') return;
    if (row?.state === 'unbuilt' || performance.now() > deadline) throw new DatabaseTooSlow();
  }
}
