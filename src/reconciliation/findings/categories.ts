export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

interface Kind {
  severity: Severity;
  /** What it says, for people. */
  title: string;
  /** What was seen. */
  meaning: string;
  /** What to do about it, and what not. */
  action: string;
}

/** What a difference can be, the worst first: the order of reports. Severity and advice follow from it and are not stored. */
export const CATEGORIES = {
  missing_local: {
    severity: 'critical',
    title: 'Money moved that we never sent',
    meaning: 'The upstream lists a transaction for which there is no payment on record here.',
    action:
      "Suspect that the upstream's key has leaked: look who else has it, ask the upstream from which address the transaction was asked for, and have the key replaced unless a person can say who made it. Then ask for its reversal. Stop all payouts (stop) if there is more than one.",
  },
  missing_upstream: {
    severity: 'high',
    title: 'Paid by our records, unknown to the upstream',
    meaning: 'A payment stands here as carried out, and the upstream lists no transaction for it.',
    action:
      'Ask the upstream for the transaction by its upstream_ref or batch_ref. Do not pay again before it has said in writing that nothing was paid; then pay with a new Idempotency-Key and resolve this.',
  },
  duplicate_upstream: {
    severity: 'high',
    title: 'Paid twice by the upstream',
    meaning: 'The upstream lists one payment of ours more than once.',
    action:
      "Ask the upstream to reverse the second transaction, naming both by upstream_ref. Check on the recipient's side whether both arrived; do not take it off the next payout before you know.",
  },
  amount_over: {
    severity: 'high',
    title: 'More was paid than asked for',
    meaning: 'The upstream paid out more than was asked for.',
    action:
      'Ask the upstream at which rate and with which rounding it paid, and to give the difference back. If it recurs with one country or wallet, stop payouts there until it is answered.',
  },
  status: {
    severity: 'high',
    title: 'The outcome differs',
    meaning:
      'The upstream says something else of what became of a payment than our records do; it may have reversed it.',
    action:
      'Read the transaction again and ask the upstream when and why its status changed. If it was reversed, tell the client, who decides whether to pay anew. If it was paid after all, never pay again.',
  },
  recipient: {
    severity: 'high',
    title: 'Somebody else was paid',
    meaning: 'The upstream names another recipient than the one who was asked for.',
    action:
      'Compare both recipients (scope audit:pii) with the client. If the wrong person was paid, ask the upstream for a reversal at once; do not pay the right one before the reversal is confirmed.',
  },
  unexplained_debit: {
    severity: 'high',
    title: 'Value left a wallet without a transaction',
    meaning: 'A wallet has an entry by which it lost value, and no listed transaction explains it.',
    action:
      "Ask the upstream which transaction the entry belongs to. If it names one that its listing lacks, the listing is not whole. If it names none, suspect that the upstream's key has leaked, as with money that moved without us.",
  },
  amount_under: {
    severity: 'medium',
    title: 'Less was paid than asked for',
    meaning: 'The upstream paid out less than was asked for.',
    action:
      'Ask the upstream whether it kept a fee or still owes the rest. Do not send the rest by yourself before it has said that it will not.',
  },
  fee: {
    severity: 'medium',
    title: 'The fee is not the agreed one',
    meaning: 'The upstream took another fee than RECONCILIATION_FEE_PERCENT expects.',
    action:
      'Compare it with the contract. If the contract has changed, change RECONCILIATION_FEE_PERCENT and run the period again; else claim the difference.',
  },
  balance_gap: {
    severity: 'medium',
    title: 'A wallet does not add up',
    meaning: 'The entries of a wallet do not join: its balance changed without an entry that says why.',
    action:
      'Ask the upstream for all entries of the wallet between the two. Look for findings of the same time and amount: a missing or doubled transaction would explain it.',
  },
  late: {
    severity: 'low',
    title: 'Carried out late',
    meaning: 'The upstream carried the payment out long after it was asked for.',
    action:
      'Nothing is owed. If it recurs, tell the upstream, and keep RESOLVER_QUIET_SECONDS longer than the longest delay: a call must not be settled as not_executed before.',
  },
  unrecognised_status: {
    severity: 'low',
    title: 'A status nobody knows',
    meaning: 'The upstream uses a word for a status of which it is not known whether money moved.',
    action:
      'Ask the upstream what the word means. Until then the sums take our own word for it; do not pay again because of it.',
  },
} as const satisfies Record<string, Kind>;

export type Category = keyof typeof CATEGORIES;

export const CATEGORY_NAMES = Object.keys(CATEGORIES) as Category[];

export function kindOf(category: Category): Kind {
  return CATEGORIES[category];
}

export function ofSeverity(severity: Severity): Category[] {
  return CATEGORY_NAMES.filter((name) => CATEGORIES[name].severity === severity);
}
