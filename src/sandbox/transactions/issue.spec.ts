import Decimal from 'decimal.js';
import { newIssue, NOBODY } from './issue';

const item = (usd: string) => ({ ...NOBODY, phoneNumber: `+254${usd}`, valueInUSD: new Decimal(usd) });
const terms = { issuerId: 'issuer', type: 'airtime', status: 'paid' } as const;

describe('issue', () => {
  it('adds up decimals, not floats', () => {
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
});
