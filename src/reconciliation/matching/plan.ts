import { RunSettings } from './run-settings';

/** What a run compares, and how. */
export interface Plan {
  runId: string;
  /** The period, [from, to). */
  from: Date;
  to: Date;
  /** Our records count as they stood then. */
  asOf: Date;
  /** The look at the upstream, or the statement. */
  readId: string;
  /** The look at its wallets; null: none was had, and nothing is said of them. */
  walletsReadId: string | null;
  /** It changes the state of no finding. */
  historical: boolean;
  source: 'upstream' | 'statement';
  settings: RunSettings;
}

/** Something that a listing lacks and that the upstream is asked for by its name. */
export interface Unlisted {
  source: 'transaction' | 'batch';
  subject: string;
}

/** Tells how far a step is; `of` is null where that is not known. */
export type OnProgress = (step: string, done: number, of: number | null) => Promise<void> | void;

/** Asks for each, and answers with the reads (`source_read`) that came of it. */
export type Confirm = (asked: Unlisted[]) => Promise<string[]>;
