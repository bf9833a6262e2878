/** Guards against other spellings of a recipient, and against false names of a transaction. */

const SHARED_IDS = 'test/reconciliation/book/shared-ids.spec.ts';
const MIGRATION = 'prisma/migrations/20261124000000_init/migration.sql';

export const RECIPIENTS = [
  {
    name: 'canonical-phones',
    guards: 'a phone number in another spelling, such as one with a trunk zero',
    edits: [
      [
        'src/recipients/recipient.ts',
        'return text === key ? { canonical: key }',
        "return text.startsWith('+') ? { canonical: key }",
      ],
    ],
    noticedBy: 'test/people/recipient-spellings.spec.ts',
    test: 'is refused with the spelling to use',
  },
  {
    name: 'canonical-names',
    guards: 'an address or a sub-account in another spelling, such as one with an invisible character',
    edits: [
      [
        'src/recipients/recipient.ts',
        'if (name === key || small === key)',
        'if (name === key || small !== null)',
      ],
    ],
    noticedBy: 'test/people/recipient-spellings.spec.ts',
    test: 'is refused with the spelling to use',
  },
  {
    name: 'possible-numbers',
    guards: 'a payment to an impossible number',
    edits: [
      [
        'src/recipients/recipient.ts',
        'if (impossible !== undefined) return',
        "if (impossible === '') return",
      ],
    ],
    noticedBy: 'test/people/recipient-spellings.spec.ts',
    test: 'is refused with the spelling to use',
  },
  {
    name: 'trunk-zero',
    guards: 'a separate limit for a number with a trunk zero',
    edits: [['src/recipients/numbering-plan.ts', "form ?? [/^0+/, '']", 'form ?? AS_DIALED']],
    noticedBy: 'test/people/recipient-keys.spec.ts',
    test: 'are equal for all spellings of a recipient',
  },
  {
    name: 'masked-receivers',
    guards: 'a restored transfer whose receiver is compared by its mask',
    edits: [['src/recipients/recipient.ts', "if (plain === '' || MASKED.test(plain))", "if (plain === '')"]],
    noticedBy: 'test/people/recipient-keys.spec.ts',
    test: 'are equal for all spellings of a recipient',
  },
];

const MATCHING = 'src/gateway/forwarding/outcome/match.spec.ts';
const ITEMS = 'test/payments/answers-of-items.spec.ts';
const SETTLEMENT = 'src/operations/lifecycle/settlement.ts';

/** Guards against transactions of an answer that are of no payout, or of another one. */
export const ANSWERS = [
  {
    name: 'contradicting-transaction',
    guards: 'a transaction of another recipient, type or amount that is taken for that of an item',
    edits: [['src/gateway/forwarding/outcome/match.ts', '    if (contradicts) return;\n', '']],
    noticedBy: MATCHING,
  },
  {
    name: 'paid-name',
    guards: 'a transaction to another email address that shows the handle of an item',
    edits: [
      [
        'src/gateway/forwarding/outcome/comparison.ts',
        "  if (item.paid !== undefined && isOther(item.paid)) return 'other';\n",
        '',
      ],
    ],
    noticedBy: MATCHING,
    test: 'compares all names of a recipient in any spelling',
  },
  {
    name: 'shared-reference',
    guards: 'a reference of several items that decides which one is paid',
    edits: [['src/gateway/forwarding/outcome/match.ts', 'item && !another', 'item']],
    noticedBy: MATCHING,
    test: 'ignores a reference that several items share',
  },
  {
    name: 'repeated-transaction',
    guards: 'a repeated transaction that makes two payouts paid',
    edits: [['src/gateway/upstream/answers/transactions.ts', '    return !first;\n', '    return true;\n']],
    noticedBy: ITEMS,
    test: 'have their states with a row repeated in place of another payout to the same person',
  },
  {
    name: 'repeated-status',
    guards: 'the first of two statuses of a transaction',
    edits: [
      [
        'src/gateway/upstream/answers/transactions.ts',
        'if (first) first.status = bothWords(first.status, one.status);',
        'if (first) first.status ??= bothWords(first.status, one.status);',
      ],
    ],
    noticedBy: ITEMS,
    test: 'have their states with a row repeated with another status',
  },
  {
    name: 'others-that-contradict',
    guards: 'a payout that takes the status of a transaction of another recipient',
    edits: [[SETTLEMENT, 'isSame && !others.some(({ isRefused }) => isRefused) ? first', 'isSame ? first']],
    noticedBy: ITEMS,
    test: 'have their states with a row of another recipient',
  },
  {
    name: 'unnamed-success',
    guards: 'a success that names no transaction and counts as paid',
    edits: [[SETTLEMENT, 'needsName || transactions.length > 0', 'transactions.length > 0']],
    noticedBy: 'src/operations/lifecycle/settlement.spec.ts',
    test: 'leaves POST /payouts/airtime in doubt after a success that names nothing',
  },
  {
    name: 'unnamed-handover',
    guards: 'a handover to the telco without a transaction that counts as paid',
    edits: [[SETTLEMENT, "    if (needsName && !isNamed) return 'in_doubt';\n", '']],
    noticedBy: 'src/operations/lifecycle/settlement.spec.ts',
    test: 'leaves a payout in doubt whose handover to the telco is stated without a transaction',
  },
  {
    name: 'doubts-of-a-success',
    guards: 'a success whose payouts are all in doubt, and that nobody settles',
    edits: [
      [
        'src/reconciliation/in-doubt/calls-in-doubt.ts',
        'call.hasAnswer && settlesItems(call.operation) && items.length > 0',
        'call.hasAnswer && call.settled.size > 0 && items.length > 0',
      ],
    ],
    noticedBy: 'test/reconciliation/in-doubt/unnamed-successes.spec.ts',
    test: 'is settled as not executed if a later listing shows nothing',
  },
  {
    name: 'name-of-another-transaction',
    guards: 'a change of a transaction that shares its name with one of another payout',
    edits: [
      [
        'src/reconciliation/book/sightings.ts',
        'b.read_id IS NULL OR s.upstream_id IS NULL AND EXISTS',
        'b.read_id IS NULL OR FALSE AND EXISTS',
      ],
    ],
    noticedBy: 'test/reconciliation/book/contradictions.spec.ts',
    test: 'is followed if an older transaction of another payout has its name',
  },
  {
    name: 'news-of-a-variant',
    guards: 'a payout whose transaction has the name of another one',
    edits: [
      [
        'src/reconciliation/book/sightings.ts',
        'position = b.position, contradiction = NULL, is_news = TRUE',
        'position = b.position',
      ],
    ],
    noticedBy: 'test/reconciliation/book/contradictions.spec.ts',
    test: 'is followed with no ID, though an answer gave its reference to another payout',
  },
  {
    name: 'batch-without-recipients',
    guards: 'a payout without a recipient that is paid by another call with its batch',
    edits: [['src/reconciliation/book/rules.ts', 'where: Prisma.sql`t.many <= o.many`', '']],
    noticedBy: 'test/reconciliation/book/erased-recipients.spec.ts',
    test: 'has none of several, because another call may share the batch',
  },
  {
    name: 'listed-with-the-id-of-another',
    guards: 'a second payout paid by one transaction, because another one has its ID',
    edits: [
      [
        'src/reconciliation/book/sightings.ts',
        'AND (upstream_ref = upstream_id OR coalesce(s.upstream_ref = upstream_ref, TRUE))',
        '',
      ],
    ],
    noticedBy: SHARED_IDS,
    test: 'stay two, and are of no equal payout',
  },
  {
    name: 'answered-with-the-id-of-another',
    guards: 'a payout in doubt, because a transaction of another party has the ID of its own',
    edits: [[MIGRATION, 'CASE WHEN has_id THEN upstream_id END, batch_ref', 'upstream_id, batch_ref']],
    noticedBy: SHARED_IDS,
    test: 'stay two if the other one is listed before the answer',
  },
];
