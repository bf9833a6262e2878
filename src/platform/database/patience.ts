/**
 * How long one step of a request waits for the database: the lookup of its key, or its admission with its queue. After
 * that, the request is answered with 503 and not sent. Such steps usually take some milliseconds.
 */
export const DATABASE_PATIENCE_MS = 3_000;

/** The database did not respond in time. The statement may still be carried out. */
export class DatabaseTooSlow extends Error {
  constructor() {
    super(`The database did not answer within ${DATABASE_PATIENCE_MS} ms.`);
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

/**
 * Waits for a query no longer than a request may. The statement itself ends by its own timeout.
 * @throws DatabaseTooSlow
 */
export async function withPatience<Answer>(question: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseTooSlow()), DATABASE_PATIENCE_MS);
  });
  return Promise.race([question, over]).finally(() => clearTimeout(timer));
}
