import Decimal from 'decimal.js';
import { Call, Routes } from '../call';
import { Database } from '../database';
import { NOT_FOUND } from '../envelope';
import { LedgerEntry, Wallet } from '../generated/client';
import { fieldsOf, readText } from '../validation';
import { WALLET_TYPES } from './ledger';

export const walletRoutes = {
  'GET /wallets/list': listWallets,
  'POST /wallets/list': listWallets,
  'POST /wallets/lookup': lookUpWallet,
} satisfies Routes;

const ENTRIES_SHOWN = 100; // The newest ones. A wallet's history has no end, and the interface has no paging.

/** GET and POST /wallets/list */
export async function listWallets({ account, database }: Call) {
  return walletsOf(database, account.id);
}

/** POST /wallets/lookup: a wallet of the account, or of one of its sub-accounts. */
export async function lookUpWallet({ account, database }: Call, body: unknown) {
  const id = readText(fieldsOf(body).walletID, 'walletID');
  const owner = { OR: [{ id: account.id }, { parentId: account.id }] };
  const wallet = await database.wallet.findUnique({ where: { id, account: owner } });
  return wallet ? withEntries(database, wallet) : NOT_FOUND;
}

/** Returns the wallets of one account (docs/reference/upstream.md, /wallets/list). */
export async function walletsOf(database: Database, accountId: string) {
  const wallets = await database.wallet.findMany({ where: { accountId } });
  const ordered = WALLET_TYPES.flatMap((type) => wallets.filter((wallet) => wallet.type === type));
  return Promise.all(ordered.map((wallet) => withEntries(database, wallet)));
}

/** With its newest entries first. */
async function withEntries(database: Database, wallet: Wallet) {
  const newest = { where: { walletId: wallet.id }, orderBy: { id: 'desc' }, take: ENTRIES_SHOWN } as const;
  return walletRecord(wallet, await database.ledgerEntry.findMany(newest));
}

function walletRecord({ id, type, balance, accountId }: Wallet, entries: LedgerEntry[]) {
  return {
    id,
    type,
    // The balance of the newest entry, which was read later, so the two always agree.
    balance: new Decimal(entries[0]?.newBalance ?? balance).toNumber(),
    owner: accountId,
    transactions: entries.map(entryRecord),
  };
}

function entryRecord({ amount, balanceBefore, newBalance, description, date }: LedgerEntry) {
  const epochMs = date.getTime();
  return {
    amount: amount.toNumber(),
    balanceBefore: balanceBefore?.toNumber(),
    newBalance: newBalance?.toNumber(),
    description,
    meta: { date: { _seconds: Math.floor(epochMs / 1_000), _nanoseconds: (epochMs % 1_000) * 1_000_000 } },
  };
}
