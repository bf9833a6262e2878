import { recordedAccount } from '../../journal/recorded-account';
import { MAIN_ACCOUNT } from '../../platform/config/upstream-accounts';
import { text } from './literals';

/**
 * SQL for whether a call is of an upstream account: that of its client.
 * @param clientId the column with the client of the call.
 */
export function isCallOf(clientId: string, account: string): string {
  // A restored database may lack a client, whose calls are then compared with the account that has no name.
  return account === MAIN_ACCOUNT
    ? `${clientId} NOT IN (SELECT id FROM client WHERE account <> ${text(MAIN_ACCOUNT)})`
    : `${clientId} IN (SELECT id FROM client WHERE account = ${text(account)})`;
}

/**
 * SQL for whether a record is about an upstream account.
 * @param column the column with the account. Null in records of `main`.
 */
export function isRecordOf(column: string, account: string): string {
  const recorded = recordedAccount(account);
  return recorded === null ? `${column} IS NULL` : `${column} = ${text(recorded)}`;
}
