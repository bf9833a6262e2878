import { accountFaults } from '../../http/validation/known-account';
import { Problem } from '../../platform/errors/problem';

const DAY_MS = 86_400_000;

/** A year and its surroundings. A longer period takes several runs, each with a listing of its own. */
const MAX_DAYS = 400;

/** The account, the period and the sources of a run. */
export interface Question {
  /** The upstream account. */
  account: string;
  from: Date;
  to: Date;
  /** Compares our records and the upstream's as of this time. Null: now. */
  asOf: Date | null;
  /** The statement to compare with. Null: the upstream's own listing. */
  statementId: string | null;
}

/**
 * Checks the request for a run.
 * @param now by the database's clock, which the records use.
 * @param accounts the upstream accounts.
 * @throws Problem `invalid_request` that lists the errors.
 */
export function checkQuestion({ account, from, to, asOf }: Question, now: Date, accounts: string[]): void {
  const faults = accountFaults(account, accounts);
  const fault = (pointer: string, detail: string) => faults.push({ pointer, detail });
  if (from >= to) fault('/to', 'must be after from');
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
    fault('/to', `must be at most ${MAX_DAYS} days after from; start another run for the rest`);
  }
  // A call that is made while the upstream is read would stand on one side only, and look like an unknown transaction.
  if (to > now) fault('/to', `must not be in the future; it is ${now.toISOString()} now`);
  if (asOf && asOf > now) fault('/as_of', `must not be in the future; it is ${now.toISOString()} now`);
  if (asOf && asOf < to) fault('/as_of', 'must not be before to, because the period must have ended by then');
  if (faults.length > 0) throw new Problem('invalid_request', { faults });
}

/** Returns the UTC day before the day of an instant. */
export function dayBefore(at: Date): { from: Date; to: Date } {
  const to = new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
  return { from: new Date(to.getTime() - DAY_MS), to };
}
