/** Timeout of a query without a request's own deadline (REQUEST_DEADLINE_MS), in ms. */
export const REQUEST_TIMEOUT_MS = 2_000;

/** Maximum wait of a request for the commit of its outcome. After it, the app gets an unknown outcome. */
export const OUTCOME_ANSWER_MS = 5_000;

/** SQLSTATE query_canceled: a statement took longer than its timeout (PostgreSQL, appendix A). */
export const STATEMENT_TIMED_OUT = '57014';

/** The database did not respond in time. The statement may still be carried out. */
export class DatabaseTooSlow extends Error {
  constructor() {
    super('The database did not answer in time.');
  }
}

/**
 * Waits for a promise for a limited time. It may still settle later.
 * @param late makes the result if the promise has not settled by then. By default, it is undefined.
 */
export function waitAtMost<Answer, Late = undefined>(
  answer: Promise<Answer>,
  ms: number,
  late: () => Late | Promise<Late> = () => undefined as Late,
): Promise<Answer | Late> {
  return new Promise((resolve, reject) => {
    // fewer promises than a race, because every payment waits here
    const timer = setTimeout(() => resolve(late()), ms).unref();
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: Error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/**
 * Waits for a query up to the request's deadline. The statement itself ends by its own timeout.
 * @throws DatabaseTooSlow
 */
export function withTimeout<Answer>(question: Promise<Answer>, ms: number): Promise<Answer> {
  return waitAtMost(question, ms, () => Promise.reject<never>(new DatabaseTooSlow()));
}
