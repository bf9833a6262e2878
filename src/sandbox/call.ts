import { Database } from './database';
import { Account } from './generated/client';

/** One authenticated request, as every operation sees it. */
export interface Call {
  account: Account;
  database: Database;
  /** The sandbox's own address, on which the links it gives out live. */
  origin: string;
}

/** What an operation answers as `data`; its input is a body or a query that nobody has looked at yet. */
export type Operation = (call: Call, input: unknown) => Promise<unknown>;
