import { Fault, Problem } from '../../platform/errors/problem';

const DAY_MS = 86_400_000;

/** A year and what surrounds it: more is asked for in parts, each with a listing of its own. */
export const MAX_DAYS = 400;

/** What a run is asked for. */
export interface Question {
  from: Date;
  to: Date;
  /** As our records and the upstream's stood then; null: now. */
  asOf: Date | null;
  /** The statement to compare with; null: the upstream's own listing. */
  statementId: string | null;
}

/**
 * @param now by the database's clock, which is that of the records.
 * @throws Problem `invalid_request` that says what is wrong with the question.
 */
export function checkQuestion({ from, to, asOf }: Question, now: Date): void {
  const faults: Fault[] = [];
  const fault = (pointer: string, detail: string) => faults.push({ pointer, detail });
  if (from >= to) fault('/to', 'must be after from');
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
    fault('/to', `must be at most ${MAX_DAYS} days after from; start another run for the rest`);
  }
  // What is made while the upstream is asked would stand on one side only, and look like a payment past the proxy.
  if (to > now) fault('/to', `must not be in the future; it is ${now.toISOString()} now`);
  if (asOf && asOf > now) fault('/as_of', `must not be in the future; it is ${now.toISOString()} now`);
  if (asOf && asOf < to) fault('/as_of', 'must not be before to, because the period must have ended by then');
  if (faults.length > 0) throw new Problem('invalid_request', { faults });
}

/** The day, in UTC, before the one in which an instant lies. */
export function dayBefore(at: Date): { from: Date; to: Date } {
  const to = new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
  return { from: new Date(to.getTime() - DAY_MS), to };
}
