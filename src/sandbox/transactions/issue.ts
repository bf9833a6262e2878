import { randomUUID, randomInt } from 'node:crypto';
import Decimal from 'decimal.js';
import { Behaviour } from '../behaviour/behaviour';
import { Work } from '../database';
import { Prisma, Transaction } from '../generated/client';
import { Fields, fieldsOf, readOptionalMeta, readOptionalText } from '../http/validation';
import { WalletType } from '../wallets/ledger';
import { moneyUnder } from './money';

/** An item of a batch: its recipient and its value. */
export type Item = Pick<
  Transaction,
  'email' | 'twitter' | 'phoneNumber' | 'countryToSend' | 'momoCode' | 'reference'
> & {
  valueInUSD: Decimal;
  description?: string | null;
  meta?: Prisma.InputJsonObject;
  /** Statuses that differ from the batch's: one at once, and optionally one later. */
  becomes?: readonly string[];
};

/** A transaction before the database assigns its position. */
export type NewTransaction = Omit<Transaction, 'seq' | 'redeemData' | 'meta'> & {
  meta?: Prisma.InputJsonObject;
};

/** A batch before it is stored: one issueID, and one transaction per item, in order. */
export interface Issue {
  issueID: string;
  /** Sum of the paid items and the fee, in US dollars. */
  total: Decimal;
  /** Sum of the transactions' fees, in US dollars. */
  fee: Decimal;
  transactions: NewTransaction[];
  /** Later status changes. */
  later: { transactionId: string; fromStatus: string; toStatus: string }[];
}

interface IssueTerms {
  issuerId: string;
  type: 'airtime' | 'momo' | 'credit' | 'transfer' | 'payment';
  status: 'paid' | 'unpaid' | 'pending';
  /** Percentage of the items' sum. Default: 0. */
  feePercent?: Decimal;
  /** Marks of the whole batch. */
  marks?: Marks;
  /** Wallet that pays it, or that receives a payment. Default: none, because its link is paid. */
  wallet?: WalletType;
  /** Account that receives a transfer. */
  receiver?: string;
}

export const NO_RECIPIENT = {
  email: null,
  twitter: null,
  phoneNumber: null,
  countryToSend: null,
  momoCode: null,
  reference: null,
};

/** First statuses of items that cost nothing. */
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

/** Stores batches with their later status changes, which so survive a crash. */
export async function storeIssues(work: Work, issues: Issue[], { laterMs }: Behaviour): Promise<void> {
  const rows = issues.flatMap(({ transactions }) => transactions.map(rowOf));
  await work.$executeRaw`
    INSERT INTO transactions (id, chi_ref, issue_id, issue_date, issuer_id, type, status, value_in_usd, fee,
      wallet, money, fee_paid, email, twitter, phone_number, country_to_send, momo_code, reference, receiver,
      description, meta)
    SELECT id, chi_ref, issue_id, issue_date, issuer_id, type, status, value_in_usd, fee,
      wallet, money, fee_paid, email, twitter, phone_number, country_to_send, momo_code, reference, receiver,
      description, meta
    FROM json_populate_recordset(NULL::transactions, ${JSON.stringify(rows)}::json) WITH ORDINALITY
    ORDER BY ordinality`;
  const later = issues.flatMap((issue) => issue.later);
  if (later.length === 0) return;
  const dueAt = new Date(Date.now() + laterMs);
  await work.dueChange.createMany({ data: later.map((change) => ({ ...change, dueAt })) });
}

/** Returns a transaction by the names of its columns. */
function rowOf(transaction: NewTransaction) {
  return {
    id: transaction.id,
    chi_ref: transaction.chiRef,
    issue_id: transaction.issueID,
    issue_date: transaction.issueDate,
    issuer_id: transaction.issuerId,
    type: transaction.type,
    status: transaction.status,
    value_in_usd: transaction.valueInUSD,
    fee: transaction.fee,
    wallet: transaction.wallet,
    money: transaction.money,
    fee_paid: transaction.feePaid,
    email: transaction.email,
    twitter: transaction.twitter,
    phone_number: transaction.phoneNumber,
    country_to_send: transaction.countryToSend,
    momo_code: transaction.momoCode,
    reference: transaction.reference,
    receiver: transaction.receiver,
    description: transaction.description,
    meta: transaction.meta,
  };
}

export function chiRefsOf(transactions: { chiRef: string }[]): string[] {
  return transactions.map(({ chiRef }) => chiRef);
}

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const RECORD_ID_LENGTH = 20; // See "Identifiers" in docs/reference/upstream.md.

/** Generates the `id` of a record: 20 letters and digits, 119 random bits. */
export function newRecordId(): string {
  let id = '';
  for (let i = 0; i < RECORD_ID_LENGTH; i++)
    id += LETTERS_AND_DIGITS.charAt(randomInt(LETTERS_AND_DIGITS.length));
  return id;
}

/** Generates the `{issuer}_{total}_{epochMs}` of a batch (docs/reference/upstream.md, "Identifiers"). */
export function newIssueID(issuerId: string, total: Decimal): string {
  return `${issuerId}_${total.toFixed()}_${nextEpochMs()}`;
}

let lastEpochMs = 0;

/** Returns increasing times, so that equal batches of one millisecond have different issueIDs. */
function nextEpochMs(): number {
  lastEpochMs = Math.max(Date.now(), lastEpochMs + 1);
  return lastEpochMs;
}

const USD_DECIMALS = 6; // As in the database.
const Exact = Decimal.clone({ precision: 60 }); // The product of two largest amounts has 38 digits.

/** Returns a percentage of `total`, rounded up to six decimals. */
export function feeOf(total: Decimal, percent: Decimal): Decimal {
  return new Decimal(
    new Exact(total).times(percent).div(100).toDecimalPlaces(USD_DECIMALS, Decimal.ROUND_UP),
  );
}

/**
 * Splits a fee in proportion to costs, without a remainder. A part is the fee of all costs up to its own,
 * rounded down, minus that of the costs before it.
 */
export function splitFee(fee: Decimal, costs: Decimal[]): Decimal[] {
  if (fee.isZero()) return costs.map(() => new Decimal(0));
  const total = costs.reduce((sum, cost) => sum.plus(cost), new Exact(0));
  let reached = new Exact(0);
  let owed = new Exact(0);
  return costs.map((cost) => {
    const before = owed;
    reached = reached.plus(cost);
    owed = reached.times(fee).div(total).toDecimalPlaces(USD_DECIMALS, Decimal.ROUND_DOWN);
    return new Decimal(owed.minus(before));
  });
}

/** The caller's own data of an item or a batch. Transactions show it, so that callers find their IDs. */
export interface Marks {
  reference: string | null;
  description: string | null;
  meta?: Prisma.InputJsonObject;
}

/** Reads the optional `reference`, `description` and `meta` of an item or a body. */
export function readMarks(value: unknown, name?: string): Marks {
  const fields: Fields = fieldsOf(value);
  const prefix = name === undefined ? '' : `${name}.`;
  const meta = readOptionalMeta(fields.meta, `${prefix}meta`);
  return {
    reference: readOptionalText(fields.reference, `${prefix}reference`),
    description: readOptionalText(fields.description, `${prefix}description`),
    ...(meta && { meta }),
  };
}

/** Returns the marks of an item. Those of its batch replace missing and empty ones. */
function marksOf(item: Partial<Marks>, batch: Partial<Marks> = {}): Marks {
  const meta = item.meta ?? batch.meta;
  return {
    reference: item.reference || batch.reference || (item.reference ?? null),
    description: item.description || batch.description || null,
    ...(meta && { meta }),
  };
}
