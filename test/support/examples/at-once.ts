import { Work } from '../../../src/reconciliation/in-doubt/work';

/** Runs all steps of the work without yielding to the event loop. The product runs them with `Effort`. */
export function atOnce<Result>(work: Work<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
