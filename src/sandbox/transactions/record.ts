import Decimal from 'decimal.js';
import { Prisma, Transaction } from '../generated/client';
import { redeemLink } from '../pages/links';
import { NewTransaction } from './issue';

const CREDITS_PER_USD = 1_000; // See "Transaction record" in docs/reference/upstream.md.

/** Asset types that a recipient can redeem a transaction as, by its type. */
const REDEEMABLE_AS: Record<string, string[]> = {
  airtime: ['airtime'],
  momo: ['momo'],
  credit: ['crypto', 'airtime', 'gift-card', 'momo', 'other'],
};

type TextField =
  | 'email'
  | 'phoneNumber'
  | 'phone'
  | 'twitter'
  | 'countryToSend'
  | 'momoCode'
  | 'reference'
  | 'receiver';

/** A transaction in answers. */
export interface TransactionRecord extends Partial<Record<TextField, string>> {
  id: string;
  chiRef: string;
  issueID: string;
  issueDate: string;
  issuer: string;
  initiatedBy: string;
  type: string;
  status: string;
  valueInUSD: number;
  credit: number;
  fee?: number;
  enabledToRedeem: string[];
  redeemLink?: string;
  integration: { appID: string };
  redeemData?: Prisma.JsonValue;
  meta?: Prisma.JsonObject;
}

/** Returns the record of a transaction (docs/reference/upstream.md, "Transaction record"). */
export function transactionRecord(
  transaction: NewTransaction | Transaction,
  origin: string,
): TransactionRecord {
  const { id, chiRef, issueID, issueDate, issuerId, type, status } = transaction;
  const usd = new Decimal(transaction.valueInUSD);
  const fee = new Decimal(transaction.fee);
  const isRedeemable = type === 'credit' && (status === 'paid' || status === 'redeemed');
  return {
    id,
    chiRef,
    issueID,
    issueDate: issueDate.toISOString(),
    issuer: issuerId,
    initiatedBy: issuerId,
    type,
    status,
    valueInUSD: usd.toNumber(),
    credit: usd.times(CREDITS_PER_USD).toNumber(),
    ...(!fee.isZero() && { fee: fee.toNumber() }),
    ...optionalTexts(transaction),
    enabledToRedeem: REDEEMABLE_AS[type] ?? [],
    ...(isRedeemable && { redeemLink: redeemLink(origin, chiRef) }),
    integration: { appID: issuerId },
    ...extraFields(transaction),
  };
}

function optionalTexts(transaction: NewTransaction | Transaction): Partial<Record<TextField, string>> {
  const { email, phoneNumber, twitter, countryToSend, momoCode, reference, receiver } = transaction;
  const fields = {
    email,
    phoneNumber,
    phone: phoneNumber,
    twitter,
    countryToSend,
    momoCode,
    reference,
    receiver,
  };
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string] => field[1] !== null),
  );
}

function extraFields(
  transaction: NewTransaction | Transaction,
): Pick<TransactionRecord, 'redeemData' | 'meta'> {
  const meta: Prisma.JsonObject = {
    ...(transaction.description !== null && { description: transaction.description }),
  };
  Object.assign(meta, transaction.meta);
  const redeemData = 'redeemData' in transaction ? transaction.redeemData : null;
  return { ...(redeemData !== null && { redeemData }), ...(Object.keys(meta).length > 0 && { meta }) };
}
