/** Guards against runs that are clean although something differs. */

const STATES = 'test/reconciliation/matching/reconciliation-payout-states.full.spec.ts';

export const RUNS = [
  {
    name: 'state-of-each-payout',
    guards: 'a run that takes the outcome of a call for the state of its payouts',
    edits: [['src/reconciliation/matching/ours.ts', 'coalesce(e.entry, c.usual)', 'c.usual']],
    noticedBy: STATES,
  },
  {
    name: 'entries-of-the-instant',
    guards: 'a run as of an instant that reads later settlements',
    edits: [
      [
        'src/reconciliation/matching/ours.ts',
        'c.usual, ${asOf}::timestamptz) AS e',
        "c.usual, 'infinity') AS e",
      ],
    ],
    noticedBy: STATES,
    test: 'is that of the instant of the run',
  },
];
