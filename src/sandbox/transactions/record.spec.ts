import Decimal from 'decimal.js';
import { newIssue, NO_RECIPIENT } from './issue';
import { transactionRecord } from './record';

const ORIGIN = 'http://sandbox.test';

describe('transactionRecord', () => {
  const [transaction] = newIssue(
    [{ ...NO_RECIPIENT, email: 'ada@example.org', valueInUSD: new Decimal('1.1') }],
    {
      issuerId: 'issuer',
      type: 'credit',
      status: 'unpaid',
    },
  ).transactions;

  it('counts exactly a thousand credits per US dollar', () => {
    expect(transactionRecord(transaction!, ORIGIN)).toMatchObject({ valueInUSD: 1.1, credit: 1100 });
  });

  it('omits missing values, and keeps an empty reference', () => {
    expect(transactionRecord(transaction!, ORIGIN)).not.toHaveProperty('phoneNumber');
    expect(transactionRecord(transaction!, ORIGIN)).not.toHaveProperty('meta');
    expect(transactionRecord({ ...transaction!, reference: '' }, ORIGIN)).toMatchObject({ reference: '' });
  });

  it('has a redeem link only for a paid or redeemed credit', () => {
    const redeemLink = `${ORIGIN}/redeem?chiRef=${transaction!.chiRef}`;
    expect(transactionRecord({ ...transaction!, status: 'paid' }, ORIGIN)).toMatchObject({ redeemLink });
    expect(transactionRecord({ ...transaction!, status: 'redeemed' }, ORIGIN)).toMatchObject({ redeemLink });
    expect(transactionRecord(transaction!, ORIGIN)).not.toHaveProperty('redeemLink');
    expect(
      transactionRecord({ ...transaction!, status: 'paid', type: 'airtime' }, ORIGIN),
    ).not.toHaveProperty('redeemLink');
  });
});
