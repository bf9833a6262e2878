import { Prisma } from '../generated/client';

/** Code of Postgres for a row that another process wrote meanwhile. */
const UNIQUE_VIOLATION = '23505';

/** Returns whether a raw statement failed because another process wrote such a row meanwhile. */
export function isUniqueViolation(error: unknown): boolean {
  return (
    error instanceof Prisma.PrismaClientKnownRequestError &&
    JSON.stringify(error.meta ?? {}).includes(UNIQUE_VIOLATION)
  );
}
