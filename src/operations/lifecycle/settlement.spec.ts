import { CREATING, NAMED_IN_ANSWER } from '../items/effects';
import { entriesOfAnswer } from './settlement';

const AIRTIME = 'POST /payouts/airtime';
const UNNAMED = { status: 'Sent', meaning: 'paid', isNamed: false, isRefused: false } as const;
const PAID = { status: 'paid', meaning: 'paid', isNamed: true, isRefused: false } as const;
const FAILED = { status: 'failed', meaning: 'failed', isNamed: true, isRefused: false } as const;

describe('entriesOfAnswer', () => {
  it.each([...NAMED_IN_ANSWER])('leaves %s in doubt after a success that names nothing', (operation) => {
    expect(entriesOfAnswer(operation, 'succeeded', 2, [])).toEqual(['in_doubt', 'in_doubt']);
  });

  it.each(CREATING.filter((operation) => !NAMED_IN_ANSWER.has(operation)))(
    'believes a success of %s, whose answers name no transaction',
    (operation) => {
      expect(entriesOfAnswer(operation, 'succeeded', 1, [])).not.toContain('in_doubt');
    },
  );

  it('leaves a payout in doubt whose handover to the telco is stated without a transaction', () => {
    const failed = {
      status: 'Failed',
      meaning: 'failed',
      isNamed: false,
      isRefused: false,
      position: 1,
    } as const;
    for (const kind of ['succeeded', 'unknown'] as const) {
      expect(entriesOfAnswer(AIRTIME, kind, 2, [{ ...UNNAMED, position: 0 }, failed])).toEqual([
        'in_doubt',
        'in_doubt',
      ]);
    }
  });

  it('leaves the payouts in doubt that an answer does not name', () => {
    expect(entriesOfAnswer(AIRTIME, 'succeeded', 2, [{ ...PAID, position: 1 }])).toEqual([
      'in_doubt',
      'paid',
    ]);
  });

  it('takes the status of the other transactions only if all agree', () => {
    const others = (...more: (typeof PAID | typeof FAILED)[]) =>
      entriesOfAnswer(
        AIRTIME,
        'succeeded',
        2,
        more.map((one) => ({ ...one, position: null })),
      );
    expect(others(PAID, PAID)).toEqual(['paid', 'paid']);
    expect(others(PAID, FAILED)).toEqual(['in_doubt', 'in_doubt']);
    expect(others(PAID)).toEqual(['in_doubt', 'in_doubt']);
    expect(others(PAID, PAID, PAID)).toEqual(['in_doubt', 'in_doubt']);
  });
});
