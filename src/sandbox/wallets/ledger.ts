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
 * The sandbox's own accounts: the outside world, payments to telcos and others, recipients' credits, and the
 * service's earnings. They have no running balance and may be negative.
 */
const OWN_ACCOUNTS = ['outside', 'payouts', 'issued credit', 'fees'] as const;
export type OwnAccount = (typeof OWN_ACCOUNTS)[number];

/** One side of a posting: signed US dollars, negative when value leaves the account. */
export interface Entry {
  account: WalletName | OwnAccount;
  usd: Decimal;
}

/**
 * Writes a posting: the only writer of money. Its entries must sum to zero, or the database rejects the
 * commit. At most one of them debits a wallet.
 *
 * Locks are taken in one order, so that operations cannot deadlock: rows of `transactions` by ID
 * (transactions/status.ts), then wallets by ID (here). A posting is therefore the last step of an operation.
 * @throws Refusal if the wallet holds too little. `work` must then not be committed.
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
  if (!payer) throw new Error('the wallet does not exist'); // Otherwise value would vanish.
  throw new Refusal(`insufficient funds in the ${payer.account.type} wallet`);
}

/** Returns one entry per account, because a statement changes a wallet once. */
function merged(entries: Entry[]): Entry[] {
  const sums = new Map<string, Entry>();
  for (const { account, usd } of entries) {
    const name = typeof account === 'string' ? account : `${account.accountId} ${account.type}`;
    sums.set(name, { account, usd: usd.plus(sums.get(name)?.usd ?? 0) });
  }
  return [...sums.values()];
}

/**
 * Locks, checks and changes the wallets and writes the entries, in one statement. After a wait, it sees the
 * new balance: https://www.postgresql.org/docs/current/transaction-iso.html
 * @returns the number of changed wallets. A wallet that would fall below zero is not changed.
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
      FROM wallets
      JOIN unnest(
        ${wallets.map(({ account }) => account.accountId)}::text[],
        ${wallets.map(({ account }) => account.type)}::text[],
        ${wallets.map(({ usd }) => usd.toFixed())}::numeric[]
      ) AS change (account_id, type, amount) USING (account_id, type)
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
      FROM unnest(
        ${own.map(({ account }) => account)}::text[],
        ${own.map(({ usd }) => usd.toFixed())}::numeric[]
      ) AS own (account, amount)
    )
    INSERT INTO ledger_entries
      (posting_id, wallet_id, own_account, amount, balance_before, new_balance, description, date)
    SELECT posting.id, wallet_id, own_account, amount, balance_before, new_balance,
      ${description}, clock_timestamp()
    FROM entry CROSS JOIN posting
    RETURNING wallet_id`;
  return rows.filter(({ wallet_id }) => wallet_id !== null).length;
}

/** Creates the wallets of an account, each with `opening` US dollars from outside. */
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
 * Returns a consistent view of the ledger: each wallet's running balance, each own account's sum of entries,
 * and the sum of all, which must be "0". US dollars are decimal text.
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
