import { Ours, Theirs } from '../../support/reconciliation/comparison';
import { listed, OLD, paid, run, useDatabase } from '../../support/reconciliation/listing-scene';

const SHARED = { reference: 'payroll' };

describe('a stranger with a reference that many payments share', () => {
  useDatabase('of each test');

  /** A call that the upstream did not carry out, whose reference is the only one left. */
  const INNOCENT: [string, Partial<Ours>, string[]][] = [
    ['is not listed', {}, ['missing_upstream']],
    ['is in doubt', { kind: 'unknown', upstream_ref: null }, []],
    ['was rejected', { kind: 'rejected', upstream_ref: null }, []],
    ['names no transaction', { upstream_ref: null }, ['missing_upstream']],
  ];
  const STRANGER: [string, Partial<Theirs>][] = [
    ['another recipient', {}],
    ['another recipient and amount', { amount_usd: '70' }],
    ['no time', { issued_at: null }],
  ];

  describe.each(INNOCENT)('never replaces the payment of a call that %s', (_what, call, missing) => {
    it.each(STRANGER)('if it has %s', async (_difference, more) => {
      await paid('first', 10, SHARED);
      await paid('second', 20, SHARED);
      await paid('innocent', 30, { ...SHARED, ...call });
      const own = [listed('first', 11, SHARED), listed('second', 21, SHARED)];
      const [result, , found] = await run([OLD(), ...own, listed('thief', 31, { ...SHARED, ...more })]);
      const categories = found.map((line) => line.split(' ')[0]);
      expect([result, categories.toSorted()]).toEqual(['findings', ['missing_local', ...missing]]);
      expect(found).toContainEqual(expect.stringMatching(/^missing_local upstream_ref\/thief /));
    });
  });
});
