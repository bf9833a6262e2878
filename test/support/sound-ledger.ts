import { Database } from '../../src/sandbox/database';

/** Checks what must be true of every ledger between two operations. */
export async function expectSoundLedger(database: Database): Promise<void> {
  const faults = await database.$queryRaw`
    SELECT 'posting that does not sum to zero' AS fault, posting_id::text AS id
      FROM ledger_entries GROUP BY posting_id HAVING sum(amount) <> 0
    UNION ALL
    SELECT 'wallet below zero', id FROM wallets WHERE balance < 0
    UNION ALL
    SELECT 'wallet that is not the sum of its entries', wallets.id
      FROM wallets LEFT JOIN ledger_entries ON wallet_id = wallets.id
      GROUP BY wallets.id HAVING balance <> coalesce(sum(amount), 0)
    UNION ALL
    SELECT 'entry that does not go on from the one before', id::text FROM (
      SELECT id, balance_before, lag(new_balance, 1, 0) OVER (PARTITION BY wallet_id ORDER BY id) AS before
      FROM ledger_entries WHERE wallet_id IS NOT NULL) AS entries
      WHERE balance_before <> before
    UNION ALL
    SELECT 'status other than the last of its history', transactions.id
      FROM transactions WHERE status <> (
        SELECT status FROM status_changes WHERE transaction_id = transactions.id ORDER BY status_changes.id DESC LIMIT 1)
    UNION ALL
    SELECT 'status taken twice', transaction_id FROM status_changes GROUP BY transaction_id, status HAVING count(*) > 1`;
  expect(faults).toEqual([]);
}
