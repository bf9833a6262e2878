/** Guards of caps against fees of the upstream. */

const EXPECTED = 'src/journal/admission/expected-fees.ts';
const LEARNED = 'src/operations/items/learned-fees.ts';
const UNIT = 'src/operations/items/fees.spec.ts';
const LEARNING = 'test/reconciliation/findings/learned-fees.full.spec.ts';

export const FEES = [
  {
    name: 'fee-of-one-call',
    guards: 'a reservation by one mistake of the upstream',
    edits: [[LEARNED, 'CALLS_TO_LEARN = 3', 'CALLS_TO_LEARN = 1']],
    noticedBy: UNIT,
    test: 'needs three calls',
  },
  {
    name: 'fee-above-payout',
    guards: 'an expected fee that is larger than its payout',
    edits: [[LEARNED, '...(usd.gt(fromUsd) ? [whole] : [])', '...(usd.lt(0) ? [whole] : [])']],
    noticedBy: UNIT,
    test: 'is never above the payout, and its record has the same',
  },
  {
    name: 'fee-of-larger-payouts',
    guards: 'the fee of large payouts, expected of small ones',
    edits: [[LEARNED, 'percent, minUsd: smaller?.usd ?? ZERO', 'percent, minUsd: usd']],
    noticedBy: UNIT,
    test: 'of other sizes is at most what an upstream with a share, a fixed part and a minimum charges',
  },
  {
    name: 'fee-of-tier',
    guards: 'the fee of a tier at the amount where the next one begins',
    edits: [['src/operations/items/fees.ts', 'amountUsd.lt(belowUsd)', 'amountUsd.lte(belowUsd)']],
    noticedBy: UNIT,
    test: 'changes exactly at the amounts of its tiers: 10 costs 0.1',
  },
  {
    name: 'fee-of-30-days',
    guards: 'a reservation by a fee that ended long ago',
    edits: [[EXPECTED, '.filter(({ day }) => day >= oldest)', '.filter(() => oldest)']],
    noticedBy: LEARNING,
    test: 'is that of the account, and of the last 30 days',
  },
  {
    name: 'lost-fees',
    guards: 'a fee unknown to an instance after a recovery',
    edits: [
      [
        EXPECTED,
        'if (this.epoch !== undefined && this.epoch !== epoch) this.learnAnew();',
        'if (epoch < 0) this.learnAnew();',
      ],
    ],
    noticedBy: LEARNING,
    test: 'is learned anew by an instance that knew more fees than a restored database',
  },
];
