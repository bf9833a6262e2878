import { Prisma } from '../platform/database/generated/client';

/**
 * Returns SQL that is true for the clients of an upstream account. What one account lists says nothing about the calls of
 * another one, even if it uses the same IDs.
 * @param clientId the column with the ID of the client.
 */
export function ofAccount(clientId: string, account: string): Prisma.Sql {
  // The array is read once for a statement.
  return Prisma.sql`${Prisma.raw(clientId)} = ANY (ARRAY(SELECT id FROM client WHERE account = ${account}))`;
}
