import { randomUUID } from 'node:crypto';
import Decimal from 'decimal.js';
import { Behaviour } from '../behaviour';
import { Prisma, Transaction } from '../generated/client';
import { Work } from '../database';
import { WalletType } from '../wallets/ledger';
import { feeOf, splitFee } from './fee';
import { newIssueID, newRecordId } from './ids';
import { Marks, marksOf } from './marks';
import { moneyUnder } from './money';

/** The value of one item of a batch, and its recipient. */
export type Item = Pick<
  Transaction,
  'email' | 'twitter' | 'phoneNumber' | 'countryToSend' | 'momoCode' | 'reference'
> & {
  valueInUSD: Decimal;
  description?: string | null;
  meta?: Prisma.InputJsonObject;
  /** Its statuses, if they differ from those of its batch. At most two, and the second comes later. */
  becomes?: readonly string[];
};

/** A transaction before it is stored. The database gives it its position. */
export type NewTransaction = Omit<Transaction, 'seq' | 'redeemData' | 'meta'> & { meta?: Prisma.InputJsonObject };

/** A batch before it is stored: one issueID, and one transaction per item in the items' order. */
export interface Issue {
  issueID: string;
  /** The sum of the paid items and the fee, in US dollars. */
  total: Decimal;
  /** Exactly the sum of the transactions' fees, in US dollars. */
  fee: Decimal;
  transactions: NewTransaction[];
  /** Later status changes. */
  later: { transactionId: string; fromStatus: string; toStatus: string }[];
}

interface IssueTerms {
  issuerId: string;
  type: 'airtime' | 'momo' | 'credit' | 'transfer' | 'payment';
  status: 'paid' | 'unpaid' | 'pending';
  /** The percentage of the items' sum. Default: none. */
  feePercent?: Decimal;
  /** The caller's words about the whole batch. */
  marks?: Marks;
  /** The wallet that pays it, or that receives a payment. Default: none, it is paid by its link. */
  wallet?: WalletType;
  /** The account that receives a transfer. */
  receiver?: string;
}

export const NOBODY = {
  email: null,
  twitter: null,
  phoneNumber: null,
  countryToSend: null,
  momoCode: null,
  reference: null,
};

/** An item that fails at once, or is held as fraud, costs nothing. */
const COSTS_NOTHING = new Set(['failed', 'fraud']);

export function newIssue(items: Item[], terms: IssueTerms): Issue {
  const { issuerId, type, feePercent = new Decimal(0), receiver = null, wallet = null } = terms;
  const statusOf = ({ becomes }: Item) => becomes?.[0] ?? terms.status;
  const costs = items.map((item) => (COSTS_NOTHING.has(statusOf(item)) ? new Decimal(0) : item.valueInUSD));
  const value = costs.reduce((sum, cost) => sum.plus(cost), new Decimal(0));
  const fee = feeOf(value, feePercent);
  const fees = splitFee(fee, costs);
  const total = value.plus(fee);
  const issueID = newIssueID(issuerId, total);
  const issueDate = new Date();
  const later: Issue['later'] = [];
  const transactions = items.map(({ becomes, ...item }, index) => {
    const [status = terms.status, toStatus] = becomes ?? [];
    const id = newRecordId();
    if (toStatus !== undefined) later.push({ transactionId: id, fromStatus: status, toStatus });
    const own = { id, chiRef: randomUUID(), issueID, issueDate, issuerId, type, status, receiver, wallet };
    const itemFee = fees[index] ?? new Decimal(0);
    const money = moneyUnder(status, own) ?? 'paid';
    return { ...item, ...own, ...marksOf(item, terms.marks), fee: itemFee, feePaid: itemFee, money };
  });
  return { issueID, total, fee, transactions, later };
}

/** Stores a batch with its later status changes, so that a crash loses nothing. */
export async function storeIssue(work: Work, { transactions, later }: Issue, { laterMs }: Behaviour): Promise<void> {
  await work.transaction.createMany({ data: transactions });
  if (later.length === 0) return;
  const dueAt = new Date(Date.now() + laterMs);
  await work.dueChange.createMany({ data: later.map((change) => ({ ...change, dueAt })) });
}

export function chiRefsOf(transactions: { chiRef: string }[]): string[] {
  return transactions.map(({ chiRef }) => chiRef);
}
