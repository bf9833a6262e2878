import { SetMetadata } from '@nestjs/common';

export const SHOWS = 'payout-proxy:shows';

/** What an answer shows of the history, as the record of its reader says it. */
export interface Shown {
  /** Null where it is not known when the answer begins. */
  rows: number | null;
  /** The one call that was asked for. */
  callId?: string;
  /** The calls on a page. */
  callIds?: string[];
  /** What else was asked for by its address: `{run_id}`. */
  about?: Record<string, string>;
  /** Whether it shows recipients, or whom somebody searched for, masked or not. */
  people: boolean;
}

/** How the calls that an answer shows are said. */
export type ShownBy<Answer = unknown> = (answer: Answer) => Shown;

/**
 * Says that a route shows the history to somebody else than who made it: that it was read is recorded before the answer
 * leaves, and where it cannot be recorded, nothing is shown (src/audit/readings.interceptor.ts).
 * @param by `itself`: the handler sees to it.
 */
export const Shows = <Answer>(by: ShownBy<Answer> | 'itself') => SetMetadata(SHOWS, by);

export const showsCall: ShownBy<{ id: string }> = ({ id }) => ({ rows: 1, callId: id, people: true });

/** @param rows calls, or payouts of them, of which several may be of one call. */
export function showsCalls(rows: { id: string }[]): Shown {
  return { rows: rows.length, callIds: [...new Set(rows.map(({ id }) => id))], people: rows.length > 0 };
}

/** Lists that name nobody. */
export const showsNobody = (rows: unknown[]): Shown => ({ rows: rows.length, people: false });
