import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';

/** Returns an upstream account as in records: null for `main`. */
export function recordedAccount(account: string): string | null {
  return account === MAIN_ACCOUNT ? null : account;
}

/** Returns the upstream account that a record is about. */
export function accountNamed(recorded: string | null | undefined): string {
  return recorded ?? MAIN_ACCOUNT;
}

/**
 * Returns SQL that is true for the clients of an upstream account. The list of one account proves nothing
 * about calls of another, even with equal IDs.
 * @param column the column of the client ID.
 */
export function ofAccount(column: string, account: string): Prisma.Sql {
  const clientId = Prisma.raw(column);
  // Each subquery runs once per statement. Calls of a client missing after a restore count as `main`.
  return account === MAIN_ACCOUNT
    ? Prisma.sql`${clientId} NOT IN (SELECT id FROM client WHERE account <> ${MAIN_ACCOUNT})`
    : Prisma.sql`${clientId} = ANY (ARRAY(SELECT id FROM client WHERE account = ${account}))`;
}

/**
 * Returns SQL that is true for the records about an upstream account.
 * @param column the column of the account. Null in records of `main`.
 */
export function isRecordOf(column: string, account: string): Prisma.Sql {
  const recorded = recordedAccount(account);
  return recorded === null
    ? Prisma.sql`${Prisma.raw(column)} IS NULL`
    : Prisma.sql`${Prisma.raw(column)} = ${recorded}`;
}

/** Returns SQL that is true for the clients of the same account as a client. See {@link ofAccount}. */
export function ofSameAccount(column: string, clientId: string): Prisma.Sql {
  return Prisma.sql`${Prisma.raw(column)} = ANY (ARRAY(
    SELECT id FROM client WHERE account = (SELECT account FROM client WHERE id = ${clientId}::uuid)))`;
}
