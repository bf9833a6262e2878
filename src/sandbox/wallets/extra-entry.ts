import Decimal from 'decimal.js';
import { Database } from '../database';
import { Refusal } from '../envelope';
import { lock } from '../transactions/change-now';
import { walletOf } from '../transactions/money';
import { Entry, post, WalletType } from './ledger';

/** The entries that no operation makes, with the account on their other side, and their sign for the wallet. */
export const EXTRA_ENTRIES = {
  'top-up': { account: 'outside', sign: 1 },
  withdrawal: { account: 'outside', sign: -1 },
  fee: { account: 'fees', sign: -1 },
} as const;

export interface ExtraEntry {
  type: keyof typeof EXTRA_ENTRIES;
  valueInUSD: number;
  account: string;
  wallet: WalletType;
  /** Follows the type in the entry's description. */
  description?: string;
}

/** Books an entry that belongs to no transaction. */
export async function addEntry(database: Database, entry: ExtraEntry) {
  const { type, account, wallet } = entry;
  const usd = amountOf(entry.valueInUSD);
  const description = entry.description === undefined ? type : `${type} ${entry.description}`;
  await database.$transaction(async (work) => {
    const found = await work.account.findUnique({ where: { id: account } });
    if (!found) throw new Refusal(`there is no account ${account}; GET /_sandbox/accounts lists them`);
    await post(work, description, entriesOf(type, { accountId: account, type: wallet }, usd));
  });
  return { type, account, wallet, valueInUSD: usd.toFixed(), description };
}

/** Charges a fee for a transaction after its answer, to the wallet that paid it. The transaction does not show it. */
export async function chargeFee(database: Database, chiRef: string, valueInUSD: number) {
  const usd = amountOf(valueInUSD);
  return database.$transaction(async (work) => {
    const transaction = await lock(work, chiRef);
    if (!transaction) throw new Refusal(`there is no transaction with the id or chiRef ${chiRef}`);
    const { id, issuerId: account } = transaction;
    const wallet = walletOf(transaction);
    const description = `fee ${transaction.chiRef}`;
    await work.transaction.update({ where: { id }, data: { feePaid: { increment: usd } } });
    await post(work, description, entriesOf('fee', { accountId: account, type: wallet }, usd));
    return { type: 'fee' as const, account, wallet, valueInUSD: usd.toFixed(), description };
  });
}

function entriesOf(type: ExtraEntry['type'], wallet: Exclude<Entry['account'], string>, usd: Decimal): Entry[] {
  const { account, sign } = EXTRA_ENTRIES[type];
  const own: Entry['account'] = account;
  return [
    { account: own, usd: usd.times(-sign) },
    { account: wallet, usd: usd.times(sign) },
  ];
}

function amountOf(valueInUSD: number): Decimal {
  return new Decimal(valueInUSD).toDecimalPlaces(6);
}
