import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';

/** Returns an upstream account as records name it. Those of `main` name none. */
export function recordedAccount(account: string): string | null {
  return account === MAIN_ACCOUNT ? null : account;
}

/** Returns the upstream account that a record is about. */
export function accountNamed(recorded: string | null | undefined): string {
  return recorded ?? MAIN_ACCOUNT;
}

/**
 * Returns SQL that is true for the clients of an upstream account. What one account lists says nothing about the calls of
 * another one, even if it uses the same IDs.
 * @param column the column with the ID of the client.
 */
export function ofAccount(column: string, account: string): Prisma.Sql {
  const clientId = Prisma.raw(column);
  // Each subquery is read once for a statement. A restored database may lack a client, whose calls count as those of `main`.
  return account === MAIN_ACCOUNT
    ? Prisma.sql`${clientId} NOT IN (SELECT id FROM client WHERE account <> ${MAIN_ACCOUNT})`
    : Prisma.sql`${clientId} = ANY (ARRAY(SELECT id FROM client WHERE account = ${account}))`;
}

/**
 * Returns SQL that is true for the records about an upstream account.
 * @param column the column with the account. Null in records of `main`.
 */
export function isRecordOf(column: string, account: string): Prisma.Sql {
  const recorded = recordedAccount(account);
  return recorded === null
    ? Prisma.sql`${Prisma.raw(column)} IS NULL`
    : Prisma.sql`${Prisma.raw(column)} = ${recorded}`;
}

/** Returns SQL that is true for the clients of the account that a client belongs to. See {@link ofAccount}. */
export function ofSameAccount(column: string, clientId: string): Prisma.Sql {
  return Prisma.sql`${Prisma.raw(column)} = ANY (ARRAY(
    SELECT id FROM client WHERE account = (SELECT account FROM client WHERE id = ${clientId}::uuid)))`;
}
