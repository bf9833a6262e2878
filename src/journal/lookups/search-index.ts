import { Prisma } from '../../platform/database/generated/client';
import { DatabaseTooSlow } from '../../platform/database/pools/patience';

/** Records per statement, or fewer if they have many payouts. A statement takes some tenths of a second. */
const BATCH = 5_000;

/** How long a call waits for the index. Less than its caller does. */
const PATIENCE_MS = 3_000;

const INDEX = 'SELECT index_calls($1::integer) AS state, search_progress() AS progress';

/**
 * The same for a call, which waits for another one that indexes as long as its patience lasts. Other statements of a call give
 * up a lock after a second.
 */
const PATIENT_INDEX = `WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', '${PATIENCE_MS}', true)) ${INDEX} FROM patience`;

/** What is left to do after a statement. */
export interface IndexState {
  /** `more`: some records may be left. `unbuilt`: all entries are there, and build_search_indexes() must follow. */
  state: 'done' | 'more' | 'unbuilt';
  /** How much of the index is there, from 0 to 1. */
  progress: number;
}

type Ask = (sql: string, values: unknown[]) => Promise<IndexState[]>;

/** Indexes one batch of what has committed. */
export async function indexBatch(ask: Ask, statement = INDEX): Promise<IndexState> {
  const [row] = await ask(statement, [BATCH]);
  return row ?? { state: 'done', progress: 1 };
}

/** Indexes batches until nothing is left, nothing more can be done, or the patience ends. */
export async function indexAll(batch: () => Promise<IndexState>, patienceMs = Infinity): Promise<IndexState> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const left = await batch();
    if (left.state !== 'more' || performance.now() > deadline) return left;
  }
}

/**
 * Brings the search index up to date with everything that has committed, so that it answers like the records.
 * @throws DatabaseTooSlow if too much is left.
 */
export async function catchUpIndex(prisma: Prisma.TransactionClient): Promise<void> {
  const ask: Ask = (sql, values) => prisma.$queryRawUnsafe(sql, ...values);
  const { state } = await indexAll(() => indexBatch(ask, PATIENT_INDEX), PATIENCE_MS);
  if (state !== 'done') throw new DatabaseTooSlow();
}
