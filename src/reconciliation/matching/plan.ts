import { RunSettings } from './run-settings';

/** Describes what a run compares, and how. */
export interface Plan {
  runId: string;
  /** The upstream account whose calls are compared. */
  account: string;
  /** The period, [from, to). */
  from: Date;
  to: Date;
  /** Our records count as they stood at this time. */
  asOf: Date;
  /** The reading of the upstream, or the statement. */
  readId: string;
  /** The reading of the wallets. Null if it failed. The run then says nothing about wallets. */
  walletsReadId: string | null;
  /** Whether the run changes the state of no finding. */
  historical: boolean;
  source: 'upstream' | 'statement';
  settings: RunSettings;
}

/** A transaction that a listing lacks, to look up by its name. */
export interface Unlisted {
  source: 'transaction' | 'batch';
  subject: string;
}

/** Reports the progress of a step. `of` is null if it is not known. */
export type OnProgress = (step: string, done: number, of: number | null) => Promise<void> | void;

/** Looks up each transaction. Returns the resulting readings (`source_read`). */
export type Confirm = (asked: Unlisted[]) => Promise<string[]>;
