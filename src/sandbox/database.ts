import { PrismaPg } from '@prisma/adapter-pg';
import { StartFailure } from './behaviour/settings';
import { Prisma, PrismaClient } from './generated/client';

export type Database = PrismaClient;

/** An open database transaction, shared by writes that must be consistent. */
export type Work = Prisma.TransactionClient;

const POOL_SIZE = 10;
// Limit for a connection and for a transaction: a burst of 1,000-item batches waits and does not fail.
const WAIT_MS = 30_000;

/**
 * Connects, and checks that the database responds and is migrated.
 * @throws {@link StartFailure} if the database cannot be reached or lacks migrations.
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
  const database = 'sandbox cannot start: the database of SANDBOX_DATABASE_URL';
  // Missing table or column: https://www.prisma.io/docs/orm/reference/error-reference
  if (code === 'P2021' || code === 'P2022') return `${database} lacks the migrations of prisma/sandbox`;
  const reason = typeof code === 'string' ? ` (${code})` : '';
  return `${database} cannot be reached or refuses the connection${reason}`;
}
