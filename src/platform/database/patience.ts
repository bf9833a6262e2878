/**
 * How long a request waits for the database in one step: the lookup of its key, or its admission, with the queue before it. A
 * request that waited so long is answered with 503, and is not sent afterwards. Such steps take some milliseconds.
 */
export const DATABASE_PATIENCE_MS = 3_000;

/** The database did not answer in time. The statement may still be carried out. */
export class DatabaseTooSlow extends Error {
  constructor() {
    super(`The database did not answer within ${DATABASE_PATIENCE_MS} ms.`);
  }
}

/**
 * Waits for a question to the database no longer than a request may. The statement itself ends by its own timeout.
 * @throws DatabaseTooSlow
 */
export async function withPatience<Answer>(question: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseTooSlow()), DATABASE_PATIENCE_MS);
  });
  return Promise.race([question, over]).finally(() => clearTimeout(timer));
}
