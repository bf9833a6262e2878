import { Database } from '../database';
import { WALLET_TYPES, WalletType } from './ledger';

/** Returns the wallets with all their entries, newest first, whatever the lists show. US dollars are decimal text. */
export async function trueWallets(database: Database, accountId?: string) {
  const wallets = await database.wallet.findMany({
    ...(accountId !== undefined && { where: { accountId } }),
    include: { entries: { orderBy: { id: 'desc' } }, account: true },
    orderBy: [{ account: { createdAt: 'asc' } }, { accountId: 'asc' }],
  });
  const inOrder = wallets.sort((a, b) => (a.accountId === b.accountId ? indexOf(a.type) - indexOf(b.type) : 0));
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
