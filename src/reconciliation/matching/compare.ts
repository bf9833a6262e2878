import { Client } from 'pg';
import { RunSettings } from '../run-settings';

export interface Plan {
  runId: string;
  from: Date;
  to: Date;
  asOf: Date;
  readId: string;
  walletsReadId: string | null;
  historical: boolean;
  source: 'upstream' | 'statement';
  settings: RunSettings;
}
export interface Asked {
  upstreamId: string | null;
  issueId: string | null;
}
export type Totals = Record<string, unknown>;

/** Stands in for the comparison until it is there. */
export function compare(
  _db: Client,
  _plan: Plan,
  _onProgress: (step: string, done: number, of: number | null) => Promise<void> | void,
  _confirm?: (asked: Asked[]) => Promise<string[]>,
): Promise<Totals> {
  return Promise.reject(new Error('not there yet'));
}
