import { randomUUID } from 'node:crypto';
import Decimal from 'decimal.js';
import { Transaction } from '../generated/client';
import { newIssueID, newRecordId } from './ids';

/** What one item of a batch is worth, and to whom it goes. */
export type Item = Pick<
  Transaction,
  'email' | 'twitter' | 'phoneNumber' | 'countryToSend' | 'momoCode' | 'reference'
> & {
  valueInUSD: Decimal;
};

/** A batch that is not stored yet: one issueID, one transaction per item, in the items' order. */
export interface Issue {
  issueID: string;
  /** USD; exactly the sum of the items. There are no fees. */
  total: Decimal;
  transactions: Transaction[];
}

interface IssueTerms {
  issuerId: string;
  type: 'airtime' | 'momo' | 'credit' | 'transfer';
  status: 'paid' | 'unpaid';
  description?: string | null;
  /** The account that a transfer goes to. */
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

export function newIssue(items: Item[], terms: IssueTerms): Issue {
  const { issuerId, type, status, description = null, receiver = null } = terms;
  const total = items.reduce((sum, { valueInUSD }) => sum.plus(valueInUSD), new Decimal(0));
  const issueID = newIssueID(issuerId, total);
  const issueDate = new Date();
  const transactions = items.map((item) => ({
    ...item,
    id: newRecordId(),
    chiRef: randomUUID(),
    issueID,
    issueDate,
    issuerId,
    type,
    status,
    receiver,
    description,
  }));
  return { issueID, total, transactions };
}
