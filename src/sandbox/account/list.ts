import { Database } from '../database';
import { WALLET_TYPES } from '../wallets/ledger';

/** Every account and what its wallets hold, the oldest account first; USD as decimal text. For the control interface. */
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
