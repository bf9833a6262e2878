import { Database } from '../../../src/sandbox/database';

/** Checks the invariants of every ledger. Only the control interface repeats a transaction's status. */
export async function expectSoundLedger(database: Database, { statusesTwice = false } = {}): Promise<void> {
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
        SELECT status FROM status_changes WHERE transaction_id = transactions.id
          ORDER BY status_changes.id DESC LIMIT 1)
    UNION ALL
    SELECT 'status taken twice', transaction_id FROM status_changes GROUP BY transaction_id, status
      HAVING count(*) > 1 AND NOT ${statusesTwice}
    UNION ALL
    SELECT 'wallet whose entries are not those of its transactions', wallets.id
      FROM wallets WHERE balance <> coalesce((
        SELECT sum(amount) FROM ledger_entries
        WHERE wallet_id = wallets.id AND split_part(description, ' ', 1) IN ('opening', 'top-up',
          'withdrawal', 'fee')
          AND NOT EXISTS (SELECT FROM transactions WHERE 'fee ' || chi_ref = ledger_entries.description)), 0)
      + coalesce((SELECT sum(CASE
          WHEN type = 'payment' THEN CASE money WHEN 'kept' THEN 0 ELSE value_in_usd END
          WHEN transactions.wallet IS NULL OR money = 'kept' THEN 0 ELSE -value_in_usd END - fee_paid)
        FROM transactions WHERE issuer_id = account_id
          AND coalesce(transactions.wallet, 'chi') = wallets.type), 0)
      + coalesce((SELECT sum(value_in_usd) FROM transactions
        WHERE receiver = account_id AND transactions.wallet = wallets.type AND money <> 'kept'), 0)`;
  expect(faults).toEqual([]);
}
