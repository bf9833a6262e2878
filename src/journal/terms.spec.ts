import { Decimal } from 'decimal.js';
import { NO_ITEM } from '../../test/support/no-item';
import { stepOf, termOf, termsOf, transactionTermsOf } from './terms';

describe('the terms of payouts', () => {
  it('are one text for each payout, in the order of the payouts', () => {
    const one = { ...NO_ITEM, phone: '+254712345678', country: 'Kenya', amountUsd: new Decimal('12.5') };
    const other = { ...NO_ITEM, receiver: 'Sub-1', reference: 'r 1', networkCode: 'MPS', upstreamRef: 'chi-1' };
    expect(termsOf([one, other])).toEqual([
      '\nitem:25\ncountry:Kenya\nto:+254712345678\n^+25\n^+2547\n^+254712\n^+254712345',
      '\nitem:-10000\nnetwork:MPS\nreference:r 1\nref:chi-1\nreceiver:Sub-1\n^sub\n^sub-1',
    ]);
  });

  it('leave out empty values', () => {
    expect(termsOf([{ ...NO_ITEM, reference: '', country: '' }])).toEqual(['\nitem:-10000']);
  });

  it('have contacts in lower case', () => {
    const [terms] = termsOf([{ ...NO_ITEM, email: 'Ada@Example.com', handle: '@Ada' }]);
    expect(terms).toBe('\nitem:-10000\nto:ada@example.com\nto:@ada\n^ada\n^ada@e\n^ada@exa\n^ada@exampl\n^@ad');
  });

  it('have a hash instead of a value that is too long for the index, and never a line break', () => {
    const long = '😀'.repeat(301);
    expect(termOf('reference:', '😀'.repeat(300))).toBe(`reference:${'😀'.repeat(300)}`);
    expect(termOf('reference:', long)).toMatch(/^reference:😀{200}#[0-9a-f]{64}$/u);
    expect(termOf('ref:', 'a\nto:b')).toMatch(/^ref:a to:b#[0-9a-f]{64}$/);
  });

  it('have steps of amounts, with none before nothing', () => {
    expect([undefined, -1, 0, 0.01, 1, 1.2].map(stepOf)).toEqual([-10_000, -9_999, -9_999, -47, 0, 1]);
  });
});

describe('the terms of transactions', () => {
  it('are first those without a certain payout, then those of each payout', () => {
    const ids = { upstreamRef: null, upstreamId: null, batchRef: null };
    expect(
      transactionTermsOf([
        { ...ids, position: 1, upstreamRef: 'chi-1', upstreamId: 'tx-1', batchRef: 'b' },
        { ...ids, position: null, upstreamRef: 'chi-2' },
        { ...ids, position: null, upstreamId: 'tx-2' },
      ]),
    ).toEqual(['\nref:chi-2\nref:tx-2', '', '\nref:chi-1\nref:tx-1\nref:b']);
    expect(transactionTermsOf([])).toEqual([]);
  });
});
