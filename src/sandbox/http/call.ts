import type { Owner } from '../account/authentication';
import { Behaviour } from '../behaviour/behaviour';
import { Database, Work } from '../database';
import type { Payout } from '../payouts/carry-out';

/** An authenticated request to an operation. */
export interface Call {
  /** Acting account: the owner of the key, or one of its sub-accounts. */
  account: Owner;
  database: Database;
  /** Address of this sandbox, for the links in its answers. */
  origin: string;
  behaviour: Behaviour;
  /**
   * Records in the same `work` that the operation is carried out, with the `chiRef`s that it created or
   * changed. Optional for operations that only read.
   */
  processed: (work: Work, chiRefs: string[]) => Promise<void>;
  /** Carries a payout out in a group, and records that with it, instead of `processed`. */
  payOut: (payout: Payout) => Promise<void>;
}

/** An operation: from an unchecked body or query to the `data` of its answer. */
export type Operation = (call: Call, input: unknown) => Promise<unknown>;

/** Operations by their names in the interface. */
export type Routes = Readonly<Record<string, Operation>>;
