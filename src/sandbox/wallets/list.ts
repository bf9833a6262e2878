import Decimal from 'decimal.js';
import { Database } from '../database';
import { Wallet, WalletEntry } from '../generated/client';
import { Call } from '../call';
import { WALLET_TYPES } from './ledger';

const ENTRIES_SHOWN = 100; // the newest ones; a wallet's history has no end, and the interface has no paging

/** GET and POST /wallets/list */
export async function listWallets({ account, database }: Call): Promise<object[]> {
  return walletsOf(database, account.id);
}

/** The wallets of one account with their newest entries first; upstream-observed.md, /wallets/list. */
export async function walletsOf(database: Database, accountId: string): Promise<object[]> {
  const wallets = await database.wallet.findMany({ where: { accountId } });
  const ordered = WALLET_TYPES.flatMap((type) => wallets.filter((wallet) => wallet.type === type));
  return Promise.all(
    ordered.map(async (wallet) => {
      const newest = { where: { walletId: wallet.id }, orderBy: { id: 'desc' }, take: ENTRIES_SHOWN } as const;
      return walletRecord(wallet, await database.walletEntry.findMany(newest));
    }),
  );
}

function walletRecord({ id, type, balance, accountId }: Wallet, entries: WalletEntry[]): object {
  return {
    id,
    type,
    balance: new Decimal(balance).toNumber(),
    owner: accountId,
    transactions: entries.map(entryRecord),
  };
}

function entryRecord({ amount, balanceBefore, newBalance, description, date }: WalletEntry): object {
  const epochMs = date.getTime();
  return {
    amount: amount.toNumber(),
    balanceBefore: balanceBefore.toNumber(),
    newBalance: newBalance.toNumber(),
    description,
    meta: { date: { _seconds: Math.floor(epochMs / 1_000), _nanoseconds: (epochMs % 1_000) * 1_000_000 } },
  };
}
