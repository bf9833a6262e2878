import { v7 as uuidv7 } from 'uuid';
import { recordedAccount } from '../../../src/journal/records/accounts';
import { MAIN_ACCOUNT } from '../../../src/platform/config/upstream/upstream-accounts';
import { TestDatabase } from '../databases/test-database';

/** Balance before, amount, balance after, seconds since the beginning of a day, and description. */
export type WalletEntry = [
  before: string,
  amount: string,
  after: string,
  seconds: number | null,
  description?: string,
];

/**
 * @param wallets their entries, oldest first.
 * @returns the reading that lists them.
 */
export async function writeWallets(
  database: TestDatabase,
  wallets: Record<string, WalletEntry[]>,
  options: { day: number; readAt: Date; balance?: string; account?: string },
): Promise<string> {
  const { day, readAt, balance = '0', account = MAIN_ACCOUNT } = options;
  const readId = uuidv7();
  const rows = Object.entries(wallets).map(([wallet_id, entries]) => ({
    wallet_id,
    balance: entries.at(-1)?.[2] ?? balance,
  }));
  const entries = Object.entries(wallets).flatMap(([wallet_id, listed]) =>
    listed
      .toReversed()
      .map(([balance_before, amount, new_balance, seconds, description = null], ordinal) => ({
        wallet_id,
        ordinal,
        balance_before,
        amount,
        new_balance,
        description,
        entered_at: seconds === null ? null : new Date(day + seconds * 1_000).toISOString(),
      })),
  );
  await database.query(
    `INSERT INTO source_read (id, account, source, read_at) VALUES ($1, $2, 'wallets', $3)`,
    [readId, recordedAccount(account), readAt],
  );
  await database.query(
    `INSERT INTO upstream_wallet (read_id, wallet_id, balance)
     SELECT $1, wallet_id, balance FROM json_to_recordset($2) AS r(wallet_id text, balance numeric)`,
    [readId, JSON.stringify(rows)],
  );
  await database.query(
    `INSERT INTO upstream_wallet_entry (
       read_id, wallet_id, ordinal, amount, balance_before, new_balance, description, entered_at)
     SELECT $1, wallet_id, ordinal, amount, balance_before, new_balance, description, entered_at
     FROM json_to_recordset($2) AS r(
       wallet_id text, ordinal integer, amount numeric, balance_before numeric, new_balance numeric,
       description text, entered_at timestamptz)`,
    [readId, JSON.stringify(entries)],
  );
  await database.query(
    `INSERT INTO source_read_end (read_id, complete, bytes, rows, kept, faults)
     VALUES ($1, TRUE, 0, 1, 1, 0)`,
    [readId],
  );
  return readId;
}
