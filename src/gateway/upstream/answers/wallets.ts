import { Decimal } from 'decimal.js';
import { isObject } from '../../../platform/json/is-object';
import { parseJson } from './answer';
import { readTime } from './times';
import { readAmount, readText } from './transactions';

/** A wallet in the upstream's list (docs/reference/upstream.md). Every field may be missing. */
export interface ListedWallet {
  id: string;
  type: string | null;
  balance: Decimal | null;
  /** The newest entries, newest first. */
  entries: WalletEntry[];
}

interface WalletEntry {
  amount: Decimal | null;
  balanceBefore: Decimal | null;
  newBalance: Decimal | null;
  description: string | null;
  enteredAt: Date | null;
}

/**
 * Reads the wallets of an answer, each once. Undefined without a list of wallets. Never throws on any bytes.
 */
export function walletsIn(body: Buffer): ListedWallet[] | undefined {
  const envelope = parseJson(body);
  const data = isObject(envelope) ? envelope.data : undefined;
  const list = [data, isObject(data) ? data.data : undefined].find(Array.isArray) as unknown[] | undefined;
  if (!list) return undefined;
  const wallets = list.filter(isObject).flatMap((wallet) => readWallet(wallet) ?? []);
  return [...new Map(wallets.map((wallet) => [wallet.id, wallet])).values()];
}

function readWallet({ id, type, balance, transactions }: Record<string, unknown>): ListedWallet | undefined {
  const name = readText(id);
  if (name === null) return undefined;
  const entries = (Array.isArray(transactions) ? (transactions as unknown[]) : [])
    .filter(isObject)
    .map(readEntry);
  return { id: name, type: readText(type), balance: readAmount(balance), entries: newestFirst(entries) };
}

function readEntry({ amount: moved, balanceBefore, newBalance, description, meta }: Record<string, unknown>) {
  return {
    amount: readAmount(moved),
    balanceBefore: readAmount(balanceBefore),
    newBalance: readAmount(newBalance),
    description: readText(description),
    enteredAt: readTime(isObject(meta) ? meta.date : undefined),
  };
}

function newestFirst(entries: WalletEntry[]): WalletEntry[] {
  const [first, last] = [entries[0]?.enteredAt, entries.at(-1)?.enteredAt];
  return first && last && first < last ? entries.toReversed() : entries;
}
