/** Guards of caps: those of people, and those against fees of the upstream. */

const CALLER_ROW = 'src/access/callers/caller.ts';
const REQUESTERS = 'src/gateway/waiting/requesters.ts';
const SCHEMA = 'prisma/migrations/20261124000000_init/migration.sql';
const APPROVALS = 'test/approvals/approvals-persons.full.spec.ts';

const EXPECTED = 'src/journal/admission/expected-fees.ts';
const LEARNED = 'src/operations/items/learned-fees.ts';
const UNIT = 'src/operations/items/fees.spec.ts';
const FORGETTING = 'test/limits/forgotten-fees.spec.ts';
const LEARNING = 'test/reconciliation/findings/learned-fees.full.spec.ts';

/** Limits of people, in addition to those of their clients. */
export const PERSONS = [
  {
    name: 'person-item-held',
    guards: "a held call with an item above its person's new limit",
    edits: [[CALLER_ROW, 'own ? `coalesce', 'own && false ? `coalesce']],
    noticedBy: APPROVALS,
    test: 'apply to an item when it is approved',
  },
  {
    name: 'person-revoked-held',
    guards: 'a held call of a revoked person',
    edits: [[REQUESTERS, "NOT IN ('key', 'claimed')", "NOT IN ('key', 'claimed', 'token')"]],
    noticedBy: APPROVALS,
    test: 'is impossible after a revocation of the requester with their own credential',
  },
  {
    name: 'person-unknown',
    guards: 'a payment for a person missing from the database',
    edits: [['src/policy/limits/caps.ts', "({ kind: 'unknown_payer' } as const)", 'undefined']],
    noticedBy: 'test/people/payers.full.spec.ts',
    test: 'is not sent, and the person is added',
  },
  {
    name: 'merged-spending',
    guards: 'a fresh cap under the second name of a human',
    edits: [[SCHEMA, 'FROM payers_like(payer) AS alike', 'FROM (SELECT payer AS payer_id) AS alike']],
    noticedBy: 'test/people/person-caps.spec.ts',
    test: 'equal the sum paid for each human, and refuse only what exceeds them',
  },
  {
    name: 'merged-spending-at-once',
    guards: 'a cap exceeded by simultaneous payments under two names',
    edits: [[SCHEMA, 'PARTITION BY c.counts_as', 'PARTITION BY c.payer_id']],
    noticedBy: 'test/people/person-caps.spec.ts',
    test: 'equal the sum paid for each human, and refuse only what exceeds them',
  },
  {
    name: 'merged-spending-decided',
    guards: 'a cap exceeded under two names within one batch of decisions',
    edits: [['src/policy/limits/caps.ts', 'isPayer(caps) ? caps.alike : [caps]', '[caps]']],
    noticedBy: 'src/policy/limits/payer-caps.spec.ts',
    test: 'are never exceeded, and refuse no amount that fits',
  },
];

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
    edits: [['src/journal/admission/call-fees.ts', 'if (day < oldest) fees', "if (day < '') fees"]],
    noticedBy: LEARNING,
    test: 'is that of the account, and of the last 30 days',
  },
  {
    name: 'forgotten-fee',
    guards: 'a forgotten fee that another instance still reserves',
    edits: [['src/journal/admission/call-fees.ts', 'forgotten = TRUE, number = DEFAULT', 'forgotten = TRUE']],
    noticedBy: FORGETTING,
    test: 'are forgotten by every instance at once, and learned anew',
  },
  {
    name: 'fees-forgotten-by-one',
    guards: 'fees that one person forgets, to overspend a cap',
    edits: [
      ['src/admin/fees/fees.controller.ts', 'if (this.dualControl.isOn && ', 'if (!this.dualControl && '],
    ],
    noticedBy: FORGETTING,
    test: 'are forgotten by two people with dual control',
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
