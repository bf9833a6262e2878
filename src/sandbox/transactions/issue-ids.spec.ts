import Decimal from 'decimal.js';
import { newIssueID, newRecordId } from './issue';

describe('newRecordId', () => {
  it('generates distinct IDs of 20 letters and digits', () => {
    const ids = Array.from({ length: 5_000 }, newRecordId);
    expect(ids.every((id) => /^[A-Za-z0-9]{20}$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('newIssueID', () => {
  it('joins issuer, total in plain notation and time', () => {
    const [issuer, total, time] = newIssueID('issuer', new Decimal('0.0000010')).split('_');
    expect([issuer, total]).toEqual(['issuer', '0.000001']);
    expect(Math.abs(Number(time) - Date.now())).toBeLessThan(60_000);
  });

  it('differs for equal batches of one millisecond', () => {
    const ids = Array.from({ length: 1_000 }, () => newIssueID('issuer', new Decimal(5)));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
