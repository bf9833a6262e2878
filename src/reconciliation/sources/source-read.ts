import { Author } from '../../access/auth/call';
import { Transaction } from '../../gateway/upstream/answers/transactions';

/** Reason and requester of a reading. */
export interface Cause {
  /** The run, the call in doubt or the event. Null for none of these. */
  causedBy: string | null;
  /** Key of the requester. Null for the proxy itself. */
  by: Author | null;
}

/** Result of a recorded reading. */
export interface ReadResult {
  readId: string;
  /** Whether the reading is complete and the upstream reported success. */
  complete: boolean;
  /** Failure code of an incomplete reading: a failure of the upstream, or `rejected`. */
  failure: string | null;
  httpStatus: number | null;
  /** Number of listed transactions or wallets. */
  rows: number;
  /** Number of kept rows. */
  kept: number;
  /** SHA-256 of the bytes as received, in hex. */
  sha256: string | null;
  /** Time of the oldest listed transaction, kept or not. Null if unknown, or if only a part was requested. */
  oldest: Date | null;
  endedAt: Date;
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
  /** Selects the transactions of the window to keep. */
  keeps?: (transaction: Transaction) => boolean;
  /** Selects transactions to keep outside of the window, too. */
  alsoKeeps?: (transaction: Transaction) => boolean;
}
