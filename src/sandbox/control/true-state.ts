import { Database } from '../database';
import { truthOf } from '../transactions/money';
import { transactionRecord } from '../transactions/record';
import { WALLET_TYPES, WalletType } from '../wallets/ledger';

/**
 * Returns a transaction by its `id` or `chiRef`, deleted or not, with its statuses and the postings of its
 * batch (payout, payment, transfer, collection) and its own (such as a redemption). US dollars are decimal
 * text. Null for an unknown ID.
 */
export async function transactionHistory(database: Database, name: string, origin: string) {
  const transaction = await database.transaction.findFirst({
    where: { OR: [{ id: name }, { chiRef: name }] },
  });
  if (!transaction) return null;
  const { id, chiRef, issueID } = transaction;
  const history = await database.statusChange.findMany({
    where: { transactionId: id },
    orderBy: { id: 'asc' },
    select: { status: true, changedAt: true },
  });
  const postings = await postingsFor(database, [issueID, chiRef]);
  return { ...transactionRecord(transaction, origin), truth: truthOf(transaction), history, postings };
}

/** Lists every transaction with the truth about its money, newest first, shown by lists or not. */
export async function trueTransactions(
  database: Database,
  { issueID, limit }: { issueID?: string | undefined; limit?: number | undefined },
  origin: string,
) {
  const transactions = await database.transaction.findMany({
    ...(issueID !== undefined && { where: { issueID } }),
    orderBy: { seq: 'desc' },
    ...(limit !== undefined && { take: limit }),
  });
  return transactions.map((transaction) => ({
    ...transactionRecord(transaction, origin),
    truth: truthOf(transaction),
  }));
}

/** A posting, with the amounts of its entries as decimal text. */
interface Posting {
  description: string;
  date: Date;
  entries: { account: string; type: string; amount: string }[];
}

/** Reads postings with one of these references as second word of the description, oldest first. */
function postingsFor(database: Database, references: string[]) {
  return database.$queryRaw<Posting[]>`
    SELECT description, min(date) AS date, json_agg(json_build_object(
      'account', coalesce(account_id, 'sandbox'),
      'type', coalesce(type, own_account),
      'amount', trim_scale(amount)::text
    ) ORDER BY ledger_entries.id) AS entries
    FROM ledger_entries LEFT JOIN wallets ON wallets.id = wallet_id
    WHERE split_part(description, ' ', 2) = ANY(${references})
    GROUP BY posting_id, description ORDER BY posting_id`;
}

/** Returns the wallets with all their entries, newest first, shown or not. US dollars are decimal text. */
export async function trueWallets(database: Database, accountId?: string) {
  const wallets = await database.wallet.findMany({
    ...(accountId !== undefined && { where: { accountId } }),
    include: { entries: { orderBy: { id: 'desc' } }, account: true },
    orderBy: [{ account: { createdAt: 'asc' } }, { accountId: 'asc' }],
  });
  const inOrder = wallets.sort((a, b) =>
    a.accountId === b.accountId ? indexOf(a.type) - indexOf(b.type) : 0,
  );
  return inOrder.map(({ id, accountId: account, type, balance, entries }) => ({
    id,
    account,
    type,
    balance: balance.toFixed(),
    entries: entries.map(({ amount, newBalance, description, date }) => ({
      amount: amount.toFixed(),
      newBalance: newBalance?.toFixed() ?? null,
      description,
      date,
    })),
  }));
}

function indexOf(type: string): number {
  return WALLET_TYPES.indexOf(type as WalletType);
}

/** Lists every account with its wallets, oldest first. US dollars are decimal text. */
export async function listAccounts(database: Database) {
  const accounts = await database.account.findMany({
    include: { wallets: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return accounts.map(({ id, name, parentId, wallets }) => ({
    id,
    name,
    parent: parentId,
    wallets: WALLET_TYPES.flatMap((type) => wallets.filter((wallet) => wallet.type === type)).map(
      ({ type, balance }) => ({ type, balance: balance.toFixed() }),
    ),
  }));
}
