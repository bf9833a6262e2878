import { Behaviour } from './behaviour';
import { Database, Work } from './database';
import { Account } from './generated/client';

/** One authenticated request, as every operation sees it. */
export interface Call {
  account: Account;
  database: Database;
  /** The sandbox's own address, on which the links it gives out live. */
  origin: string;
  behaviour: Behaviour;
  /**
   * Notes that the operation is carried out, and the `chiRef`s it made or changed; as part of the work that does it, so
   * that the ground truth cannot differ from what happened. Operations that only read need not call it.
   */
  processed: (work: Work, chiRefs: string[]) => Promise<void>;
}

/** What an operation answers as `data`; its input is a body or a query that nobody has looked at yet. */
export type Operation = (call: Call, input: unknown) => Promise<unknown>;

/** Operations by their lines in the interface. */
export type Routes = Readonly<Record<string, Operation>>;
