import { Author } from '../../access/auth/call';
import { Transaction } from '../../gateway/upstream/answers/transactions';
import { ReconciliationMetrics } from '../../http/metrics/reconciliation-metrics';
import { evidenceOf } from '../../journal/reconciliation/evidence';
import {
  insertSourceRead,
  insertSourceReadEnd,
  NewSourceRead,
  NewSourceReadEnd,
} from '../../journal/reconciliation/reconciliations';
import { PrismaService } from '../../platform/database/pools/prisma.service';

/** Reason and requester of a reading. */
export interface Cause {
  /** The run, the call in doubt or the event. Null for none of these. */
  causedBy: string | null;
  /** Key of the requester. Null for the proxy itself. */
  by: Author | null;
}

export const BY_ITSELF: Cause = { causedBy: null, by: null };

/** The source of a reading, before its end is recorded. */
export interface SourceContents extends Omit<NewSourceReadEnd, 'readId' | 'complete' | 'evidence'> {
  /** Time of the oldest listed transaction, kept or not. Null if unknown, or if only a part was requested. */
  oldest?: Date | null;
}

/** A recorded reading. It is complete if the upstream reported success. */
export type ReadResult<Contents = SourceContents> = Contents & {
  readId: string;
  complete: boolean;
  oldest: Date | null;
};

/** A source that is not what it claims to be. */
export abstract class SourceFault extends Error {
  /** The failure code of its reading. */
  abstract readonly failure: string;
}

/** The end of a reading whose rows could not be stored. */
const NOT_KEPT = { httpStatus: null, bytes: 0, sha256: null, rows: 0, kept: 0, faults: 0, evidence: null };

/**
 * Records a request, reads its answer, and records its end, even if its rows could not be stored.
 * @param finish records the end of the reading. It may return another result for the metrics.
 */
export async function recordRead<Contents extends SourceContents>(
  { prisma, metrics }: { prisma: PrismaService; metrics: ReconciliationMetrics },
  request: NewSourceRead,
  read: (readId: string) => Promise<Contents>,
  finish: (end: NewSourceReadEnd) => Promise<string | void> = (end) => insertSourceReadEnd(prisma, end),
): Promise<ReadResult<Contents>> {
  const { account, source } = request;
  const started = performance.now();
  const readId = await insertSourceRead(prisma, request);
  let result = 'complete';
  try {
    const contents = await read(readId);
    const complete = contents.failure === null;
    result = contents.failure ?? result;
    const evidence = await evidenceOf(prisma, readId);
    result = (await finish({ readId, complete, ...contents, evidence })) ?? result;
    return { readId, complete, oldest: null, ...contents };
  } catch (error) {
    result = error instanceof SourceFault ? error.failure : 'not_kept';
    // A reading without an end is ignored, too.
    const end = { readId, complete: false, failure: result, ...NOT_KEPT };
    await insertSourceReadEnd(prisma, end).catch(() => undefined);
    throw error;
  } finally {
    metrics.sourceReads.observe({ account, source, result }, (performance.now() - started) / 1_000);
  }
}

/** Options of reading a listing. */
export interface ListingOptions {
  /** Reports the number of received rows at intervals. */
  onRows?: (rows: number) => void;
  signal?: AbortSignal;
  /**
   * Whether to keep the oldest transaction even outside the window, to show how far back the listing reaches.
   */
  keepsOldest?: boolean;
  /** Selects the transactions to keep. Without it, all of the window are kept. */
  keeps?: (transaction: Transaction) => boolean;
  /** `changes` for a reading that keeps only news. It is no complete listing of its window. */
  source?: 'transactions' | 'changes';
}
