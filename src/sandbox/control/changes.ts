import { randomBytes, randomUUID } from 'node:crypto';
import Decimal from 'decimal.js';
import { hashKey } from '../account/authentication';
import { Behaviour } from '../behaviour/behaviour';
import { Database, Work } from '../database';
import { Transaction } from '../generated/client';
import { Refusal } from '../http/envelope';
import { entryFor, Money, moneyUnder, moveMoney, walletOf } from '../transactions/money';
import { DELETED } from '../transactions/status';
import { Entry, post, WalletType, openWallets } from '../wallets/ledger';

/** A change of a transaction over the control interface. */
export interface TransactionChange {
  /** New status, any word. Unchanged if omitted. */
  status?: string;
  /** Position of the value afterwards. Default: the usual one for the status. */
  money?: Money;
  /** Whether the fee is returned with the value. Default: the setting. */
  returnsFee?: boolean;
}

/** Changes a transaction by its `id` or `chiRef`, and books its wallet. False: unknown or deleted. */
export function changeNow(
  database: Database,
  behaviour: Behaviour,
  name: string,
  { status, money, returnsFee = behaviour.returnsFee }: TransactionChange,
): Promise<boolean> {
  return database.$transaction(async (work) => {
    const transaction = await lock(work, name);
    if (!transaction || transaction.status === DELETED) return false;
    if (status !== undefined)
      await work.transaction.update({ where: { id: transaction.id }, data: { status } });
    const word = status ?? transaction.status;
    const to = money ?? (status === undefined ? undefined : moneyUnder(word, transaction));
    if (to) await moveMoney(work, transaction, { to, description: entryFor(transaction, word), returnsFee });
    return true;
  });
}

/** Locks the row and reads it. The order of locks is that of `changeStatus`. */
async function lock(work: Work, name: string): Promise<Transaction | null> {
  const named = { OR: [{ id: name }, { chiRef: name }] };
  const found = await work.transaction.findFirst({ where: named, select: { id: true } });
  if (!found) return null;
  await work.$executeRaw`SELECT FROM transactions WHERE id = ${found.id} FOR UPDATE`;
  return work.transaction.findUnique({ where: { id: found.id } });
}

/** Entries without an operation, with their opposite account and their sign for the wallet. */
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
  /** Text after the type in the entry's description. */
  description?: string;
}

/** Books an entry without a transaction. */
export async function addEntry(database: Database, entry: ExtraEntry) {
  const { type, account, wallet } = entry;
  const usd = amountOf(entry.valueInUSD);
  const description = entry.description === undefined ? type : `${type} ${entry.description}`;
  await database.$transaction(async (work) => {
    const found = await work.account.findUnique({ where: { id: account } });
    if (!found) throw new Refusal(`account ${account} does not exist; GET /_sandbox/accounts lists them`);
    await post(work, description, entriesOf(type, { accountId: account, type: wallet }, usd));
  });
  return { type, account, wallet, valueInUSD: usd.toFixed(), description };
}

/** Charges a later fee to the wallet of a transaction, which keeps showing the fee of its answer. */
export async function chargeFee(database: Database, chiRef: string, valueInUSD: number) {
  const usd = amountOf(valueInUSD);
  return database.$transaction(async (work) => {
    const transaction = await lock(work, chiRef);
    if (!transaction) throw new Refusal(`no transaction has the id or chiRef ${chiRef}`);
    const { id, issuerId: account } = transaction;
    const wallet = walletOf(transaction);
    const description = `fee ${transaction.chiRef}`;
    await work.transaction.update({ where: { id }, data: { feePaid: { increment: usd } } });
    await post(work, description, entriesOf('fee', { accountId: account, type: wallet }, usd));
    return { type: 'fee' as const, account, wallet, valueInUSD: usd.toFixed(), description };
  });
}

function entriesOf(
  type: ExtraEntry['type'],
  wallet: Exclude<Entry['account'], string>,
  usd: Decimal,
): Entry[] {
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

const KEY_BYTES = 24; // 192 random bits.

/** An account to open. */
export interface NewAccount {
  name: string;
  /** Opening balance of each wallet, in US dollars. */
  openingBalance: number;
  /** Webhook URL for its transactions and its sub-accounts'. Default: the sandbox's setting. */
  eventsUrl?: string;
  /** Signing secret of these events. Default: the sandbox's setting. */
  eventsSecret?: string;
}

/** Opens an account with its own key and wallets. Returns the key this once: only its SHA-256 is stored. */
export async function openAccount(database: Database, { name, openingBalance, ...events }: NewAccount) {
  const id = randomUUID();
  const apiKey = `sandbox_${randomBytes(KEY_BYTES).toString('hex')}`;
  const opening = new Decimal(openingBalance).toDecimalPlaces(6);
  await database.$transaction(async (work) => {
    await work.account.create({ data: { id, name, apiKeyHash: hashKey(apiKey), ...events } });
    await openWallets(work, id, opening);
  });
  return { id, name, apiKey };
}
