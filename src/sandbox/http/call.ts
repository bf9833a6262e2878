import { Behaviour } from '../behaviour/behaviour';
import { Database, Work } from '../database';
import { Account } from '../generated/client';

/** An authenticated request in the form for operations. */
export interface Call {
  /** Acting account: the account of the key, or one of its sub-accounts. */
  account: Account;
  database: Database;
  /** The sandbox's own address, for the links in its answers. */
  origin: string;
  behaviour: Behaviour;
  /**
   * Records that the operation is carried out, with the `chiRef`s that it created or changed. It is part of
   * the work that carries it out, so the ground truth cannot differ. Operations that only read need not call
   * it.
   */
  processed: (work: Work, chiRefs: string[]) => Promise<void>;
}

/** Returns the `data` of an operation's answer. Its input is an unchecked body or query. */
export type Operation = (call: Call, input: unknown) => Promise<unknown>;

/** Operations by their names in the interface. */
export type Routes = Readonly<Record<string, Operation>>;
