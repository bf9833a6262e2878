import Decimal from 'decimal.js';
import { newIssue, NO_RECIPIENT } from './issue';

const item = (usd: string) => ({ ...NO_RECIPIENT, phoneNumber: `+254${usd}`, valueInUSD: new Decimal(usd) });
const terms = { issuerId: 'issuer', type: 'airtime', status: 'paid' } as const;

describe('newIssue', () => {
  it('adds decimals, not floats', () => {
    expect(newIssue([item('0.1'), item('0.2')], terms).total.toFixed()).toBe('0.3');
    const largest = Array.from({ length: 1_000 }, () => item('999999999.999999'));
    expect(newIssue(largest, terms).total.toFixed()).toBe('999999999999.999');
  });

  it('keeps the order of the items and gives the batch one issueID', () => {
    const { issueID, transactions } = newIssue([item('3'), item('1'), item('2')], terms);
    expect(transactions.map(({ phoneNumber }) => phoneNumber)).toEqual(['+2543', '+2541', '+2542']);
    expect(transactions.every((transaction) => transaction.issueID === issueID)).toBe(true);
    expect(new Set(transactions.map(({ chiRef }) => chiRef)).size).toBe(3);
    expect(issueID).toMatch(/^issuer_6_\d{13}$/);
  });

  it('counts only paid items, and splits the fee over them', () => {
    const items = [
      item('3'),
      { ...item('5'), becomes: ['failed'] },
      { ...item('1'), becomes: ['paid', 'failed'] },
    ];
    const issue = newIssue(items, { ...terms, feePercent: new Decimal(10) });
    expect([issue.total.toFixed(), issue.fee.toFixed()]).toEqual(['4.4', '0.4']);
    expect(issue.transactions.map(({ status, fee }) => `${status} ${fee.toFixed()}`)).toEqual([
      'paid 0.3',
      'failed 0',
      'paid 0.1',
    ]);
    expect(issue.issueID).toMatch(/^issuer_4\.4_/);
    const transactionId = issue.transactions[2]?.id;
    expect(issue.later).toEqual([{ transactionId, fromStatus: 'paid', toStatus: 'failed' }]);
  });
});
