/** Guards against runs that are clean although something differs. */

const STATES = 'test/reconciliation/matching/reconciliation-payout-states.full.spec.ts';

const PROOFS = 'src/reconciliation/runs/statement-proofs.ts';
const STATEMENTS = 'test/reconciliation/runs/statements-settle.spec.ts';

export const RUNS = [
  {
    name: 'statement-settles-unasked',
    guards: 'a payout settled by a statement without the setting',
    edits: [['src/reconciliation/runs/execution.ts', '!this.proofs.isOn', 'false']],
    noticedBy: STATEMENTS,
    test: 'settles nothing',
  },
  {
    name: 'uncertain-statement',
    guards: 'a payout settled by a row that only resembles it',
    edits: [[PROOFS, "WHERE p.certainty = 'certain' AND", 'WHERE']],
    noticedBy: STATEMENTS,
    test: 'changes nothing if the row is no certain match',
  },
  {
    name: 'contradicting-statement',
    guards: 'a payout settled by a row to another recipient',
    edits: [[PROOFS, '${CONTRADICTION_OF_PAIR} IS NULL', 'TRUE']],
    noticedBy: STATEMENTS,
    test: 'changes nothing if the row has another recipient',
  },
  {
    name: 'outdated-statement',
    guards: 'a payout settled by a statement from before its verdict',
    edits: [['src/reconciliation/runs/statement-proofs.service.ts', ' && last.at < importedAt', '']],
    noticedBy: STATEMENTS,
    test: 'settles a payout that was not executed, unless that was settled after the import',
  },
  {
    name: 'state-of-each-payout',
    guards: 'a run that takes the outcome of a call for the state of its payouts',
    edits: [['src/reconciliation/book/ours.ts', 'coalesce(e.entry, c.usual)', 'c.usual']],
    noticedBy: STATES,
  },
  {
    name: 'entries-of-the-instant',
    guards: 'a run as of an instant that reads later settlements',
    edits: [
      ['src/reconciliation/book/ours.ts', 'c.usual, ${asOf}::timestamptz) AS e', "c.usual, 'infinity') AS e"],
    ],
    noticedBy: STATES,
    test: 'is that of the instant of the run',
  },
  {
    name: 'one-change-of-a-transaction',
    guards: 'two redemptions of one credit that both count as executed',
    edits: [
      [
        'src/reconciliation/in-doubt/verdict/change-verdict.ts',
        "if (competing.some(({ state }) => state === 'executed')) {",
        'if (competing.length < 0) {',
      ],
    ],
    noticedBy: 'src/reconciliation/in-doubt/verdict/change-verdict.spec.ts',
    test: 'is not_executed if another call was',
  },
  {
    name: 'surplus-of-an-answer',
    guards: 'a second transaction in the answer to a call, which counts as that of an equal lost call',
    edits: [
      ['src/reconciliation/book/fingerprint.ts', 'AND n NOT IN (SELECT n FROM answered WHERE surplus)', ''],
      // Exchanged partners repair what a surplus transaction takes, except from hundreds of equal payouts.
      [
        'src/reconciliation/book/fingerprint.ts',
        'await exchangePartners(db, settings);',
        'void exchangePartners;',
      ],
    ],
    noticedBy: 'test/reconciliation/book/surplus.spec.ts',
    test: 'raises an alarm that names its twin',
  },
  {
    name: 'unplaced-in-an-answer',
    guards:
      'a transaction in the answer to a call, in an unclear place, which counts as that of another call',
    edits: [
      ['src/reconciliation/book/fingerprint.ts', 'await db.query(DROP_ANSWERED);', 'void DROP_ANSWERED;'],
    ],
    noticedBy: 'test/reconciliation/book/surplus.spec.ts',
    test: 'is of no other payout while its place in the call is unclear',
  },
  {
    name: 'listing-in-local-time',
    guards: 'a listing that was cut after a call, and counts as reaching back before it',
    edits: [
      [
        'src/reconciliation/in-doubt/listing.ts',
        'SELECT least(min(o.answered_at), ${oldest}::timestamptz) AS oldest',
        "SELECT least(min(o.answered_at) - interval '1 day', ${oldest}::timestamptz) AS oldest",
      ],
    ],
    noticedBy: 'test/reconciliation/in-doubt/local-times.spec.ts',
    test: 'reaches back before a call if it has the transaction of an earlier answer',
  },
  {
    name: 'equal-changes',
    guards: 'a redemption for one recipient that counts as that for another',
    edits: [
      [
        'src/reconciliation/in-doubt/verdict/change-verdict.ts',
        'if (maker && others.some((other) => !isEqual(maker, other))) {',
        'if (maker && others.some((other) => !maker || !other)) {',
      ],
    ],
    noticedBy: 'src/reconciliation/in-doubt/verdict/change-verdict.spec.ts',
    test: 'confirms the first of two equal calls',
  },
  {
    name: 'change-before-a-call',
    guards: 'a redemption that counts as executed although the recipient redeemed before',
    edits: [
      [
        'src/reconciliation/in-doubt/verdict/change-verdict.ts',
        'if (changedBefore) return',
        'if (changedBefore === null) return',
      ],
    ],
    noticedBy: 'src/reconciliation/in-doubt/verdict/change-verdict.spec.ts',
    test: 'is confirmed at once for the only',
  },
  {
    name: 'entry-of-a-deleted-link',
    guards: 'a link that was paid and counts as expired, because a deletion of it was confirmed later',
    edits: [
      [
        'src/reconciliation/following/deleted-links.service.ts',
        'if (!outcome || !entry || !OPEN.includes(entry)) return undefined;',
        'if (!outcome || !entry) return undefined;',
      ],
      [
        'src/reconciliation/following/deleted-links.service.ts',
        '      WHERE coalesce(e.entry, usual_entry(c.state)) = ANY (${OPEN}::text[])\n',
        '',
      ],
    ],
    noticedBy: 'test/reconciliation/in-doubt/changed-transactions.full.spec.ts',
    test: 'end the payout of a deleted link',
  },
  {
    name: 'list-with-a-paid-payout',
    guards: 'a list that is paid again because one of its payouts failed',
    edits: [
      [
        'src/operations/lifecycle/lifecycle-sql.ts',
        'o.counted_usd) IS NOT DISTINCT FROM 0\n  AND i.item_count > 0 AND i.item_count = (',
        'o.counted_usd) > -1\n  AND 0 < (',
      ],
    ],
    noticedBy: 'test/reconciliation/findings/returned-payouts.full.spec.ts',
    test: 'block an equal list only while one counts',
  },
  {
    name: 'attribution-beside-an-answer',
    guards: 'an attribution undone by an answer that is entered at the same time',
    edits: [
      [
        'prisma/migrations/20261124000000_init/migration.sql',
        'AND b.call_id IS NOT DISTINCT FROM k.owner',
        'AND TRUE',
      ],
    ],
    noticedBy: 'test/reconciliation/book/overtaken.spec.ts',
    test: 'stays if an answer that names its transaction is entered at the same time',
  },
];
