/** How long a question to the database waits that no request's own deadline (REQUEST_DEADLINE_MS) limits. */
export const REQUEST_PATIENCE_MS = 2_000;

/** How long a request waits for the commit of its outcome. After that, its outcome is unknown to its app. */
export const OUTCOME_ANSWER_MS = 5_000;

/** The database did not respond in time. The statement may still be carried out. */
export class DatabaseTooSlow extends Error {
  constructor() {
    super('The database did not answer in time.');
  }
}

/**
 * Waits for a promise for a limited time.
 * @returns undefined if it has not settled by then. It may still settle later.
 */
export function waitAtMost<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms).unref();
  });
  return Promise.race([answer, over]).finally(() => clearTimeout(timer));
}

/** @returns whether a promise was fulfilled in time. It may still settle later. It throws what the promise rejects with. */
export function isSettledWithin(answer: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), ms); // fewer promises than a race, because every payment waits here
    answer.then(
      () => {
        clearTimeout(timer);
        resolve(true);
      },
      (error: Error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/**
 * Waits for a query no longer than a request may. The statement itself ends by its own timeout.
 * @throws DatabaseTooSlow
 */
export async function withPatience<Answer>(question: Promise<Answer>, ms: number): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseTooSlow()), ms);
  });
  return Promise.race([question, over]).finally(() => clearTimeout(timer));
}
