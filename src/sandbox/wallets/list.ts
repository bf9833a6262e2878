import Decimal from 'decimal.js';
import { LedgerEntry, Wallet } from '../generated/client';
import { Call, Routes } from '../http/call';
import { NOT_FOUND } from '../http/envelope';
import { fieldsOf, readText } from '../http/validation';
import { WALLET_TYPES } from './ledger';

export const walletRoutes = {
  'GET /wallets/list': listWallets,
  'POST /wallets/list': listWallets,
  'POST /wallets/lookup': lookUpWallet,
} satisfies Routes;

const ENTRIES_SHOWN = 1_000; // The newest, because the interface has no paging.

/** GET and POST /wallets/list */
async function listWallets(call: Call) {
  return walletsOf(call, call.account.id);
}

/** POST /wallets/lookup: a wallet of the account, or of one of its sub-accounts. */
async function lookUpWallet(call: Call, body: unknown) {
  const { account, database } = call;
  const id = readText(fieldsOf(body).walletID, 'walletID');
  const owner = { OR: [{ id: account.id }, { parentId: account.id }] };
  const wallet = await database.wallet.findUnique({ where: { id, account: owner } });
  return wallet ? withEntries(call, wallet) : NOT_FOUND;
}

/** Returns the wallets of one account (docs/reference/upstream.md, /wallets/list). */
export async function walletsOf(call: Lister, accountId: string) {
  const wallets = await call.database.wallet.findMany({ where: { accountId } });
  const ordered = WALLET_TYPES.flatMap((type) => wallets.filter((wallet) => wallet.type === type));
  return Promise.all(ordered.map((wallet) => withEntries(call, wallet)));
}

type Lister = Pick<Call, 'behaviour' | 'database'>;

/** Returns a wallet with its entries, newest first, with the configured lies. */
async function withEntries({ behaviour, database }: Lister, { id, type, balance, accountId }: Wallet) {
  const { newest, frozenAt, withoutTypes } = behaviour.lists.entries;
  const until = { walletId: id, ...(frozenAt !== null && { date: { lte: new Date(frozenAt) } }) };
  const shown = { ...until, NOT: withoutTypes.map((kind) => ({ description: { startsWith: kind } })) };
  const order = { id: 'desc' } as const;
  const take = Math.min(newest ?? ENTRIES_SHOWN, ENTRIES_SHOWN);
  const entries = await database.ledgerEntry.findMany({ where: shown, orderBy: order, take });
  const hides = newest !== null || withoutTypes.length > 0;
  const last = hides ? await database.ledgerEntry.findFirst({ where: until, orderBy: order }) : entries[0];
  return {
    id,
    type,
    // The newest entry was read after the wallet, so its balance agrees with the entries.
    balance: new Decimal(last?.newBalance ?? (frozenAt === null ? balance : 0)).toNumber(),
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
