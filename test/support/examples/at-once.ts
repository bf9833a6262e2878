import { Work } from '../../../src/reconciliation/in-doubt/work';

/** Does all pieces of the work without a turn of the event loop. The product does them with `Effort`. */
export function atOnce<Result>(work: Work<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
