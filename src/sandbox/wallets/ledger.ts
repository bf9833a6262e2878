import { randomUUID } from 'node:crypto';
import Decimal from 'decimal.js';
import { Database, Work } from '../database';
import { Refusal } from '../http/envelope';

export const WALLET_TYPES = ['chi', 'momo', 'airtime'] as const;
export type WalletType = (typeof WALLET_TYPES)[number];

interface WalletName {
  accountId: string;
  type: WalletType;
}

/**
 * The sandbox's own accounts: the outside world that money comes from, payments to telcos and others, credits
 * that recipients hold, and the service's earnings. They have no running balance and may be negative.
 */
const OWN_ACCOUNTS = ['outside', 'payouts', 'issued credit', 'fees'] as const;
export type OwnAccount = (typeof OWN_ACCOUNTS)[number];

/** One side of a posting: signed US dollars, negative when value leaves the account. */
export interface Entry {
  account: WalletName | OwnAccount;
  usd: Decimal;
}

/**
 * The only writer of money. Its entries must sum to zero, or the database refuses the commit. At most one of
 * them debits a wallet. If that wallet holds too little, the posting is rejected, and `work` must not be
 * committed.
 *
 * The order of locks keeps operations from waiting for each other: first rows of `transactions` in order of
 * ID (transactions/status.ts), then wallets in order of ID (here). A posting is therefore the last step of an
 * operation.
 */
export async function post(work: Work, description: string, entries: Entry[]): Promise<void> {
  const wallets: { account: WalletName; usd: Decimal }[] = [];
  const own: { account: OwnAccount; usd: Decimal }[] = [];
  for (const { account, usd } of merged(entries)) {
    if (usd.isZero()) continue;
    if (typeof account === 'string') own.push({ account, usd });
    else wallets.push({ account, usd });
  }
  if (wallets.length + own.length === 0) return;

  if ((await write(work, description, wallets, own)) === wallets.length) return;
  const payer = wallets.find(({ usd }) => usd.isNegative());
  if (!payer) throw new Error('there is no such wallet'); // Otherwise value would vanish.
  throw new Refusal(`insufficient funds in the ${payer.account.type} wallet`);
}

/** Adds the entries of each account up, because a statement changes a wallet once. */
function merged(entries: Entry[]): Entry[] {
  const sums = new Map<string, Entry>();
  for (const { account, usd } of entries) {
    const name = typeof account === 'string' ? account : `${account.accountId} ${account.type}`;
    sums.set(name, { account, usd: usd.plus(sums.get(name)?.usd ?? 0) });
  }
  return [...sums.values()];
}

/**
 * Locks, checks and changes the wallets and writes the entries, in one statement. A statement that waited for
 * a lock is checked against the new balance, and the row stays locked until `work` commits.
 * @returns how many wallets it changed. A wallet that would fall below zero is not changed.
 */
async function write(
  work: Work,
  description: string,
  wallets: { account: WalletName; usd: Decimal }[],
  own: { account: OwnAccount; usd: Decimal }[],
): Promise<number> {
  const rows = await work.$queryRaw<{ wallet_id: string | null }[]>`
    WITH posting AS (SELECT nextval('ledger_postings') AS id),
    locked AS (
      SELECT wallets.id, change.amount
      FROM wallets JOIN unnest(${wallets.map(({ account }) => account.accountId)}::text[],
                               ${wallets.map(({ account }) => account.type)}::text[],
                               ${wallets.map(({ usd }) => usd.toFixed())}::numeric[]) AS change (account_id,
                                 type, amount)
        USING (account_id, type)
      ORDER BY wallets.id FOR UPDATE OF wallets
    ),
    changed AS (
      UPDATE wallets SET balance = balance + amount FROM locked
      WHERE wallets.id = locked.id AND balance + amount >= 0
      RETURNING wallets.id, amount, balance
    ),
    entry (wallet_id, own_account, amount, balance_before, new_balance) AS (
      SELECT id, NULL, amount, balance - amount, balance FROM changed
      UNION ALL
      SELECT NULL, account, amount, NULL, NULL
      FROM unnest(${own.map(({ account }) => account)}::text[],
                  ${own.map(({ usd }) => usd.toFixed())}::numeric[]) AS own (account, amount)
    )
    INSERT INTO ledger_entries (posting_id, wallet_id, own_account, amount, balance_before, new_balance,
      description, date)
    SELECT posting.id, wallet_id, own_account, amount, balance_before, new_balance, ${description},
      clock_timestamp()
    FROM entry CROSS JOIN posting
    RETURNING wallet_id`;
  return rows.filter(({ wallet_id }) => wallet_id !== null).length;
}

/** Creates the wallets of an account without any. `opening` US dollars are credited to each from outside. */
export async function openWallets(work: Work, accountId: string, opening: Decimal): Promise<void> {
  await work.wallet.createMany({
    data: WALLET_TYPES.map((type) => ({ id: randomUUID(), accountId, type, balance: 0 })),
  });
  for (const type of WALLET_TYPES)
    await post(work, 'opening balance', [
      { account: 'outside', usd: opening.negated() },
      { account: { accountId, type }, usd: opening },
    ]);
}

/**
 * Returns the whole ledger as of one moment: each wallet's running balance, the sum of the entries of each
 * own account, and the sum of all, which is "0" unless something is wrong. US dollars are decimal text. For
 * the control interface.
 */
export async function ledgerOf(database: Database) {
  const accounts = await database.$queryRaw<{ account: string; type: string; balance: string }[]>`
    SELECT account_id AS account, type, trim_scale(balance)::text AS balance FROM wallets
    UNION ALL
    SELECT 'sandbox', own.account, trim_scale(coalesce(sum(amount), 0))::text
    FROM unnest(${[...OWN_ACCOUNTS]}::text[]) AS own (account)
      LEFT JOIN ledger_entries ON own_account = own.account
    GROUP BY own.account
    ORDER BY account, type`;
  const sum = accounts.reduce((total, { balance }) => total.plus(balance), new Decimal(0));
  return { sum: sum.toFixed(), accounts };
}
