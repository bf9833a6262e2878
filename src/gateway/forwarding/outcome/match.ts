import { Decimal } from 'decimal.js';
import { UpstreamItem } from '../../../journal/records/records';
import { CreationRules, CREATED_BY } from '../../../operations/items/effects';
import { FeeRule, feeOf } from '../../../operations/items/fees';
import { Item } from '../../../operations/items/item';
import { countableFee } from '../../../operations/lifecycle/settlement';
import { Transaction } from '../../upstream/answers/transactions';
import {
  ComparedItem,
  comparedItem,
  ComparedTransaction,
  comparedTransaction,
  differencesOf,
} from './comparison';

/** The call whose answer is read. */
export interface AnsweredCall {
  operation: string;
  /** The expected fee of a payout. */
  feeRule: FeeRule | null;
}

/** A pair that a rule proposes. It is linked unless one of both already is, or they contradict each other. */
type Pair = [item: ComparedItem, transaction: ComparedTransaction];

/** A rule. It sees what the rules before it left. */
interface MatchRule {
  name: string;
  pairs: (open: Open) => Iterable<Pair>;
}

/** The rules that match the transactions of an answer with the items of its call, in their order. */
export const MATCH_RULES: readonly MatchRule[] = [
  {
    name: 'by reference',
    pairs: pairsByReference,
  },
  {
    name: 'by recipient and amount',
    pairs: (open) =>
      pairsByKey(
        open,
        ({ item, names }) => keysOfPayment(names, item.amountUsd),
        ({ transaction, names }) => keysOfPayment(names, transaction.amountUsd),
      ),
  },
  {
    name: 'by recipient, if one item and one transaction of it are left',
    pairs: pairsByRecipient,
  },
  {
    name: 'by place, if one item and one transaction are left, or each item has one without a recipient',
    pairs: pairsByPlace,
  },
];

/** Matches the transactions of an answer with the items of its call, one to one. */
export function matchItems(
  items: Item[],
  transactions: Transaction[],
  { operation, feeRule }: AnsweredCall,
): UpstreamItem[] {
  const compared = items.map((item, position) =>
    comparedItem(item, position, feeRule ? feeOf(item.amountUsd, feeRule) : new Decimal(0)),
  );
  const open = new Open(compared, transactions.map(comparedTransaction), CREATED_BY.get(operation));
  for (const { pairs } of MATCH_RULES) {
    if (open.isDone) break; // Almost all answers are, after two rules.
    for (const [item, transaction] of pairs(open)) open.link(item, transaction);
  }
  open.refuse();
  return transactions.map((transaction, ordinal) => {
    const { upstreamRef, upstreamId, batchRef, status, amountUsd } = transaction;
    const { position, differs } = open.matches.get(ordinal) ?? NO_MATCH;
    const feeUsd = countableFee(transaction.feeUsd);
    return { position, upstreamRef, upstreamId, batchRef, status, amountUsd, feeUsd, differs };
  });
}

/** The item of a transaction, if any, and the differences. */
type Match = Pick<UpstreamItem, 'position' | 'differs'>;

const NO_MATCH: Match = { position: null };

/** The items and transactions that are not linked yet. */
class Open {
  /** By the ordinal of the transaction. Without an item, it is refused. */
  readonly matches = new Map<number, Match>();
  private readonly taken = new Set<number>();

  constructor(
    readonly allItems: ComparedItem[],
    readonly allTransactions: ComparedTransaction[],
    private readonly created: CreationRules | undefined,
  ) {}

  get items(): ComparedItem[] {
    return this.allItems.filter((item) => this.has(item));
  }

  get transactions(): ComparedTransaction[] {
    return this.allTransactions.filter((transaction) => this.hasTransaction(transaction));
  }

  get isDone(): boolean {
    return this.taken.size === this.allItems.length || this.matches.size === this.allTransactions.length;
  }

  has({ position }: ComparedItem): boolean {
    return !this.taken.has(position);
  }

  hasTransaction({ ordinal }: ComparedTransaction): boolean {
    return !this.matches.has(ordinal);
  }

  link(item: ComparedItem, transaction: ComparedTransaction): void {
    if (!this.has(item) || !this.hasTransaction(transaction)) return;
    const { differs, contradicts } = differencesOf(item, transaction, this.created);
    if (contradicts) return;
    const { position } = item;
    this.taken.add(position);
    this.matches.set(transaction.ordinal, { position, differs: differs.length > 0 ? differs : undefined });
  }

  /** Records the differences of transactions that contradict all items left, so they are of none. */
  refuse(): void {
    const { items, created } = this;
    for (const one of this.transactions) {
      const compared = items.slice(0, MOST_COMPARED).map((item) => differencesOf(item, one, created));
      const fitting = compared.findIndex(({ contradicts }) => !contradicts);
      if (fitting >= 0) items.splice(fitting, 1);
      else if (compared[0]) this.matches.set(one.ordinal, { position: null, differs: compared[0].differs });
    }
  }
}

/** Above the items left after any honest answer. Bounds the cost of others. */
const MOST_COMPARED = 100;

/** The reference of a payout (often our ID), and the transaction that a deletion or redemption names. */
const REFERENCES = ['reference', 'upstreamRef'] as const;

function keysOfPayment(names: string[], amountUsd: Decimal | null): string[] {
  return amountUsd === null ? [] : names.map((name) => `${name} ${amountUsd.toFixed()}`);
}

/** Ignores a reference that several items share. */
function* pairsByReference({ allItems, allTransactions }: Open): Iterable<Pair> {
  for (const field of REFERENCES) {
    const items = indexed(allItems, ({ item }) => (item[field] ? [item[field]] : []));
    if (items.size === 0) continue;
    for (const one of allTransactions) {
      const [item, another] = items.get(one.transaction[field] ?? '') ?? [];
      if (item && !another) yield [item, one];
    }
  }
}

/** Pairs each transaction with the items that share a key, in order. */
function* pairsByKey(
  open: Open,
  keysOfItem: (item: ComparedItem) => string[],
  keysOfTransaction: (transaction: ComparedTransaction) => string[],
): Iterable<Pair> {
  const items = indexed(open.items, keysOfItem);
  for (const transaction of open.transactions) {
    for (const key of keysOfTransaction(transaction)) {
      const found = items.get(key) ?? [];
      while (found[0] && !open.has(found[0])) found.shift();
      for (const item of found) {
        yield [item, transaction];
        if (!open.hasTransaction(transaction)) break;
      }
    }
  }
}

function* pairsByRecipient(open: Open): Iterable<Pair> {
  const items = indexed(open.items, ({ names }) => names);
  const transactions = indexed(open.transactions, ({ names }) => names);
  for (const transaction of open.transactions) {
    const item = onlyOne(items, transaction.names);
    if (item && onlyOne(transactions, item.names)) yield [item, transaction];
  }
}

function* pairsByPlace(open: Open): Iterable<Pair> {
  const { allItems, allTransactions } = open;
  const isNameless = allTransactions.every(({ names }) => names.length === 0);
  if (isNameless && allItems.length === allTransactions.length) {
    for (const [place, transaction] of allTransactions.entries()) {
      const item = allItems[place];
      if (item) yield [item, transaction];
    }
  }
  const [item, ...items] = open.items;
  const [transaction, ...transactions] = open.transactions;
  if (item && transaction && items.length + transactions.length === 0) yield [item, transaction];
}

function indexed<Entry>(entries: Entry[], keysOf: (entry: Entry) => string[]): Map<string, Entry[]> {
  const byKey = new Map<string, Entry[]>();
  for (const entry of entries) {
    for (const key of keysOf(entry)) {
      const others = byKey.get(key);
      if (others) others.push(entry);
      else byKey.set(key, [entry]);
    }
  }
  return byKey;
}

/** Returns the entry with one of these names, if it is the only one. */
function onlyOne<Entry>(byName: Map<string, Entry[]>, names: string[]): Entry | undefined {
  const found = new Set(names.flatMap((name) => byName.get(name)?.slice(0, 2) ?? []));
  return found.size === 1 ? [...found][0] : undefined;
}
