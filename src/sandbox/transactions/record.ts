import Decimal from 'decimal.js';
import { Transaction } from '../generated/client';

const CREDITS_PER_USD = 1_000; // upstream-observed.md, Transaction record

/** What a recipient may turn a transaction of each type into. */
const REDEEMABLE_AS: Record<string, string[]> = {
  airtime: ['airtime'],
  momo: ['momo'],
  credit: ['crypto', 'airtime', 'gift-card', 'momo'],
};

/** A transaction as answered; upstream-observed.md, Transaction record. Fields without a value are left out. */
export function transactionRecord(transaction: Transaction): Record<string, unknown> {
  const { id, chiRef, issueID, issueDate, issuerId, type, status, description } = transaction;
  const usd = new Decimal(transaction.valueInUSD);
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
    ...present(transaction),
    enabledToRedeem: REDEEMABLE_AS[type] ?? [],
    integration: { appID: issuerId },
    ...(description !== null && { meta: { description } }),
  };
}

function present(transaction: Transaction): Record<string, string> {
  const { email, phoneNumber, twitter, countryToSend, momoCode, reference, receiver } = transaction;
  const fields = { email, phoneNumber, phone: phoneNumber, twitter, countryToSend, momoCode, reference, receiver };
  return Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => field[1] !== null));
}
