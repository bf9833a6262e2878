import Decimal from 'decimal.js';
import { newIssue, NOBODY } from './issue';
import { transactionRecord } from './record';

describe('transaction record', () => {
  const [transaction] = newIssue([{ ...NOBODY, email: 'ada@example.org', valueInUSD: new Decimal('1.1') }], {
    issuerId: 'issuer',
    type: 'credit',
    status: 'unpaid',
  }).transactions;

  it('is worth a thousand credits per US dollar, exactly', () => {
    expect(transactionRecord(transaction!)).toMatchObject({ valueInUSD: 1.1, credit: 1100 });
  });

  it('leaves out what it has no value for, and keeps an empty reference', () => {
    expect(transactionRecord(transaction!)).not.toHaveProperty('phoneNumber');
    expect(transactionRecord(transaction!)).not.toHaveProperty('meta');
    expect(transactionRecord({ ...transaction!, reference: '' })).toMatchObject({ reference: '' });
  });
});
