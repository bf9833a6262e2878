import fc from 'fast-check';
import { STATUSES, StatusVocabulary } from './statuses';

describe('the vocabulary of status words', () => {
  const known = StatusVocabulary.with([]);

  it('knows each status by its own word, and words in any case', () => {
    for (const status of STATUSES) expect(known.statusOf(` ${status.toUpperCase()} `)).toBe(status);
    const words = [
      'SUCCESSFUL',
      'Sent',
      'declined',
      'UNSUCCESSFUL',
      'refunded',
      'Reversed',
      'processing',
      'deleted',
    ];
    expect(words.map((word) => known.statusOf(word))).toEqual([
      'paid',
      'paid',
      'failed',
      'failed',
      'refunded',
      'reversed',
      'pending',
      'expired',
    ]);
  });

  it.each([null, undefined, '', ' ', 'settled_t2', 'constructor', '__proto__'])(
    'does not know %j',
    (word) => {
      expect(known.statusOf(word)).toBeUndefined();
    },
  );

  it('learns configured words', () => {
    const more = StatusVocabulary.with(['Settled_T2=paid', 'voided = reversed', 'paid=paid']);
    expect(['settled_t2', ' VOIDED '].map((word) => more.statusOf(word))).toEqual(['paid', 'reversed']);
    expect(more.wordsOf('reversed')).toEqual(['reversed', 'voided']);
    expect(known.statusOf('settled_t2')).toBeUndefined();
  });

  it('rejects invalid words, and lists every error', () => {
    const entries = ['settled', '=paid', 'a=b=paid', 'voided=gone', 'failed=paid', 'new=paid', 'new=failed'];
    expect(() => StatusVocabulary.with(entries)).toThrow(
      'UPSTREAM_STATUS_WORDS: "settled" is not word=status; "=paid" is not word=status; "a=b=paid" is not ' +
        'word=status; "voided=gone" is not word=status; "failed" already means failed; "new" already means ' +
        'paid. A status is one of unpaid, pending, paid, redeemed, failed, expired, reversed, refunded.',
    );
  });

  it.each([
    ['paid', 'Sent', null, 'paid'],
    ['paid', undefined, null, 'paid'],
    [null, 'Failed', 'Invalid phone number', 'failed'],
    ['failed', 'UNSUCCESSFUL', 'Invalid phone number', 'failed'],
    ['failed', null, 'Invalid phone number', 'failed'],
    ['paid', 'Failed', null, undefined],
    ['failed', 'Sent', null, undefined],
    ['pending', 'Sent', null, undefined],
    ['paid', 'odd', null, undefined],
    ['odd', 'odd', null, undefined],
    ['paid', 'Sent', 'Invalid phone number', undefined],
    [null, null, 'Invalid phone number', undefined],
    [null, null, null, undefined],
  ])(
    'reads an item that is %s, whose payout is %s with the error %j, as %s',
    (status, payoutStatus, payoutError, expected) => {
      expect(known.statusOfItem({ status, payoutStatus, payoutError })).toBe(expected);
    },
  );

  it('lists exactly the words that have a meaning', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...STATUSES), (word, status) => {
        expect(known.wordsOf(status).includes(word.trim().toLowerCase())).toBe(
          known.statusOf(word) === status,
        );
      }),
    );
  });
});
