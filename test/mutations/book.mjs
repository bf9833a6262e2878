/** Guards against transactions of the book with the wrong payout. */

const ATTRIBUTION = 'test/reconciliation/book/attribution.spec.ts';
const RULES = 'src/reconciliation/book/rules.ts';
const SIGHTINGS = 'src/reconciliation/book/sightings.ts';
const AGREEMENT = 'src/reconciliation/book/pairing/agreement.ts';
const SERVICE = 'src/reconciliation/book/book.service.ts';
const SETTLEMENT = 'src/reconciliation/book/news-settlement.ts';
const OVERTAKEN = 'test/reconciliation/book/overtaken.spec.ts';
const NEW_ANSWERS = 'test/reconciliation/book/new-answers.spec.ts';
const CONTRADICTIONS = 'test/reconciliation/book/contradictions.spec.ts';

const REFUTED = 'test/reconciliation/book/refuted-answers.spec.ts';
const MIGRATION = 'prisma/migrations/20261124000000_init/migration.sql';

export const BOOK = [
  {
    name: 'refuted-answer',
    guards: 'a payout that stays paid by the transaction of another payment',
    edits: [
      [SIGHTINGS, 'RELEASE_REFUTED, ...insertNew', '...insertNew'],
      [SIGHTINGS, 'const RELEASE_REFUTED', 'export const RELEASE_REFUTED'],
    ],
    noticedBy: REFUTED,
    test: 'frees nothing',
  },
  {
    name: 'refuted-answer-frees',
    guards: 'a payout that counts as not executed, because a listing may lie about its transaction',
    edits: [['src/reconciliation/in-doubt/verdict/related.ts', "AND kind <> 'owner'", "AND kind = 'owner'"]],
    noticedBy: REFUTED,
    test: 'frees nothing',
  },
  {
    name: 'listed-before-its-answer',
    guards: 'a payout that gets a listed transaction by its answer, without a comparison',
    edits: [[MIGRATION, 'clock_timestamp() WHERE b.read_id IS NULL)', 'clock_timestamp())']],
    noticedBy: REFUTED,
    test: 'though the listing was read before the answer',
  },
  {
    name: 'refuted-name',
    guards: 'a payout without its transaction, because a refuted answer names it too',
    edits: [
      [
        'src/reconciliation/book/attribution.ts',
        "AND c.kind <> 'owner'",
        "AND c.kind = 'owner' AND c.position IS NULL",
      ],
    ],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'id-of-another-call-in-an-answer',
    guards: 'a payout in doubt whose transaction the answer of an equal one names',
    edits: [[AGREEMENT, 'AND id <> o.call_id))`;', 'AND FALSE))`;']],
    noticedBy: REFUTED,
    test: 'by the ID of another call',
  },
  {
    name: 'partners-of-a-class',
    guards: 'a payout in doubt although its class has a transaction for it',
    edits: [
      [
        'src/reconciliation/book/fingerprint.ts',
        'await exchangePartners(db, settings);',
        'void exchangePartners;',
      ],
    ],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'pairs-that-contradict',
    guards: 'a payout whose transaction is taken for one that contradicts it',
    edits: [
      ['src/reconciliation/book/attribution.ts', '...REFUSE, ...makeNames(ids),', '...makeNames(ids),'],
      ['src/reconciliation/book/attribution.ts', 'UNION ALL SELECT o, t, rule FROM refused', ''],
      ['src/reconciliation/book/attribution.ts', 'const REFUSE = [', 'export const REFUSE = ['],
    ],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'batches-beside-contradictions',
    guards: 'a payout without its transaction, because another one with its ID contradicts it',
    edits: [
      [
        'src/reconciliation/book/attribution.ts',
        '...makeNames(ids), ...MATCH_REFUSED]',
        '...makeNames(ids)]',
      ],
    ],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'kind-without-its-reference',
    guards: 'a transaction without a type that a payout gets before the one with its reference',
    edits: [
      [
        'src/reconciliation/book/fingerprint.ts',
        'o.reference = t.reference DESC NULLS LAST, o.tier, o.at,',
        'o.tier,',
      ],
    ],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'last-of-a-call',
    guards: 'a payout in doubt although its answer names the only transaction left',
    edits: [['src/reconciliation/book/attribution.ts', 'await matchPlaces(db);', 'void matchPlaces;']],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'batch-of-a-guess',
    guards: 'a batch that counts as named by an answer, because a class had one of its transactions',
    edits: [[RULES, 'FROM run_evidence WHERE stated AND', 'FROM run_evidence WHERE']],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'id-of-another-call',
    guards: 'a transaction with the ID of another call, which the batch gives to this one',
    edits: [
      [RULES, 'AND NOT EXISTS (SELECT FROM intent WHERE id = ${NAMED_CALL} AND id <> call_id)', ''],
      [RULES, 'const NAMED_CALL =', 'export const NAMED_CALL ='],
    ],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'shared-own-id',
    guards: 'a payout in doubt because another transaction shows its ID too',
    edits: [
      [RULES, 'ownId({ theirs: OF_ITS_PAYOUT, equal,', 'ownId({ equal,'],
      [RULES, 'const OF_ITS_PAYOUT =', 'export const OF_ITS_PAYOUT ='],
    ],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'missing-id-of-a-guess',
    guards: 'a transaction of a class that ends the protection by IDs',
    edits: [
      [
        'src/reconciliation/book/shown-ids.ts',
        'AND b.ground = ANY (${CERTAIN_GROUNDS}::text[])',
        'AND b.ground <> ALL (${CERTAIN_GROUNDS.slice(0, 0)}::text[])',
      ],
    ],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'amount-of-the-payout',
    guards: 'a transaction with another amount, if its answer states none',
    edits: [
      [
        AGREEMENT,
        'least(abs(t.amount_usd - b.amount_usd), abs(t.amount_usd - o.amount_usd))',
        'abs(t.amount_usd - b.amount_usd)',
      ],
    ],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'names-for-payouts',
    guards: 'a name without a payout that comes before the one of a payout',
    edits: [[MIGRATION, 'OVER (ORDER BY pos IS NULL,', 'OVER (ORDER BY pos IS NOT NULL,']],
    noticedBy: NEW_ANSWERS,
    test: 'attributes each transaction once, whatever the batches',
  },
  {
    name: 'known-name-in-a-batch',
    guards: 'a payout without its transaction, because another answer names a known one',
    edits: [[MIGRATION, 'RETURN fresh || rest;', 'RETURN rest;']],
    noticedBy: NEW_ANSWERS,
    test: 'attributes the new names of a batch, though another one is known',
  },
  {
    name: 'unmatched-in-a-batch',
    guards: 'a transaction of an answer that the book lacks, because no payout of its call has it',
    edits: [[MIGRATION, 'INTO rest FROM named WHERE position IS NULL;', 'INTO rest FROM named WHERE FALSE;']],
    noticedBy: NEW_ANSWERS,
    test: 'enters a transaction that no payout of its call has, beside others that one has',
  },
  {
    name: 'one-id',
    guards: 'an ID of the upstream that two transactions of the book have',
    edits: [[MIGRATION, 'UNIQUE INDEX book_transaction_upstream_id', 'INDEX book_transaction_upstream_id']],
    noticedBy: NEW_ANSWERS,
    test: 'leaves an ID to the first transaction with it',
  },
  {
    name: 'lookup-by-name',
    guards: 'a reading that is compared with a new book in pairs, for minutes',
    edits: [[SIGHTINGS, 'k.upstream_id) =', "k.upstream_id || '') ="]],
    noticedBy: 'test/reconciliation/book/new-book.spec.ts',
    test: 'looks transactions up by name that have news',
  },
  {
    name: 'weaker-ground',
    guards: 'a transaction that moves to a payout whose record proves no more',
    edits: [
      [
        'src/reconciliation/book/contradictions.service.ts',
        'GROUNDS[claimant.ground] > GROUNDS[one.ground]',
        'GROUNDS[claimant.ground] >= GROUNDS[one.ground]',
      ],
    ],
    noticedBy: CONTRADICTIONS,
    test: 'belongs to the payout that it was named for first',
  },
  {
    name: 'unclear-status',
    guards: 'a payout that counts as not executed, although its transaction has an unknown status',
    edits: [
      [
        'src/reconciliation/in-doubt/rounds/poll.service.ts',
        'const unclear = await findUnclear(db, calls);',
        'const unclear: Awaited<ReturnType<typeof findUnclear>> = new Map();',
      ],
    ],
    noticedBy: CONTRADICTIONS,
    test: 'with an unknown status keeps its payout in doubt',
  },
  {
    name: 'contradicting-attribution',
    guards: 'a payout that gets a transaction of another recipient, type or amount',
    edits: [
      [SERVICE, 'return found.filter(({ contradiction }) => contradiction === null);', 'return found;'],
    ],
    noticedBy: ATTRIBUTION,
  },
  {
    name: 'owned-transaction',
    guards: 'a transaction of one payout that settles another one',
    edits: [[SETTLEMENT, 'owners.get(id) === null && !taken', '!taken']],
    noticedBy: OVERTAKEN,
    test: 'never gives a transaction away that has a payout, if another process was first',
  },
  {
    name: 'payout-with-a-transaction',
    guards: 'a payout that is settled by a second transaction',
    edits: [[SETTLEMENT, '&& !taken.has(payoutIdOf(callId, position))', '&& taken.size >= 0']],
    noticedBy: OVERTAKEN,
    test: 'never gives a second transaction to a payout, if another process was first',
  },
  {
    name: 'former-transaction',
    guards: 'a payout that is settled by its former transaction',
    edits: [[SETTLEMENT, '? owners.get(id) === callId', '? owners.has(id)']],
    noticedBy: OVERTAKEN,
    test: 'never settles a payout by a transaction that is of another one, if another process was first',
  },
];
