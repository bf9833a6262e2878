import { PrismaPg } from '@prisma/adapter-pg';
import { StartFailure } from './behaviour/settings';
import { Prisma, PrismaClient } from './generated/client';

export type Database = PrismaClient;

/** An open database transaction. Writes that must be consistent share one. */
export type Work = Prisma.TransactionClient;

const POOL_SIZE = 10;
// For a connection, and for the work on it. A burst of 1,000-item batches waits and does not fail.
const WAIT_MS = 30_000;

/**
 * Connects, and checks that the database responds and is migrated.
 * @throws {@link StartFailure}
 */
export async function connectDatabase(databaseUrl: string): Promise<Database> {
  const database = new PrismaClient({
    adapter: new PrismaPg({
      connectionString: databaseUrl,
      max: POOL_SIZE,
      connectionTimeoutMillis: WAIT_MS,
    }),
    transactionOptions: { maxWait: WAIT_MS, timeout: WAIT_MS },
  });
  try {
    await database.account.count();
    return database;
  } catch (error) {
    await database.$disconnect();
    throw new StartFailure(startFailureText(error));
  }
}

/** Describes the error without the driver's own text, which may contain parts of the connection string. */
function startFailureText(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  if (code === 'P2021' || code === 'P2022')
    return 'sandbox cannot start: the database of SANDBOX_DATABASE_URL lacks the migrations of prisma/sandbox';
  const reason = typeof code === 'string' ? ` (${code})` : '';
  return (
    'sandbox cannot start: the database of SANDBOX_DATABASE_URL cannot be reached or refuses the ' +
    `connection${reason}`
  );
}
