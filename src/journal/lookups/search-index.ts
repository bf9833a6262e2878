import { Prisma } from '../../platform/database/generated/client';
import { DatabaseTooSlow } from '../../platform/database/pools/timeouts';

/** Most records per statement, fewer if they have many payouts. A statement takes some tenths of a second. */
export const MOST_RECORDS = 5_000;

/** How long a call waits for the index, in ms. Less than its caller's timeout. */
const TIMEOUT_MS = 3_000;

const INDEX = 'SELECT index_calls($1::integer) AS state, search_progress() AS progress';

/**
 * The statement for a call, which waits for a concurrent indexer until its timeout. Other statements of
 * a call give up on a lock after a second.
 */
const PATIENT_INDEX = `WITH timeout AS MATERIALIZED (SELECT set_config('lock_timeout', '${TIMEOUT_MS}',
  true)) ${INDEX} FROM timeout`;

/** The work left after a statement. */
export interface IndexState {
  /** `more`: records may be left. `unbuilt`: all entries exist, and build_search_indexes() must follow. */
  state: 'done' | 'more' | 'unbuilt';
  /** Share of the index that exists, from 0 to 1. */
  progress: number;
}

type IndexQuery = (sql: string, values: unknown[]) => Promise<IndexState[]>;

/** Indexes one batch of committed records. */
export async function indexBatch(
  ask: IndexQuery,
  { statement = INDEX, records = MOST_RECORDS } = {},
): Promise<IndexState> {
  const [row] = await ask(statement, [records]);
  return row ?? { state: 'done', progress: 1 };
}

/** Indexes batches until nothing is left, no progress is possible or the timeout ends it. */
export async function indexAll(batch: () => Promise<IndexState>, timeoutMs = Infinity): Promise<IndexState> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const left = await batch();
    if (left.state !== 'more' || performance.now() > deadline) return left;
  }
}

/**
 * Brings the search index up to date with all committed records.
 * @throws DatabaseTooSlow if too much is left.
 */
export async function catchUpIndex(prisma: Prisma.TransactionClient): Promise<void> {
  const ask: IndexQuery = (sql, values) => prisma.$queryRawUnsafe(sql, ...values);
  const { state } = await indexAll(() => indexBatch(ask, { statement: PATIENT_INDEX }), TIMEOUT_MS);
  if (state !== 'done') throw new DatabaseTooSlow();
}
