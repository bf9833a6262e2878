export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

interface CategoryDefinition {
  severity: Severity;
  /** Title in reports and in the console. */
  title: string;
  /** Describes the difference. */
  meaning: string;
  /** Advice: what to do, and what not to do. */
  action: string;
}

/** Categories of differences, most severe first. Severity and advice are not stored with findings. */
export const CATEGORIES = {
  missing_local: {
    severity: 'critical',
    title: 'Unknown transaction at the upstream',
    meaning: 'The upstream lists a transaction, but our records have no payment for it.',
    action:
      "The upstream's key may have leaked. Check who else has it, and ask the upstream which address " +
      'made the transaction. Replace the key unless a person can explain the transaction. Then ask for a ' +
      'reversal. If there is more than one, stop all payouts (stop).',
  },
  missing_upstream: {
    severity: 'high',
    title: 'Payment missing at the upstream',
    meaning: 'Our records show that a payment was carried out, but the upstream lists no transaction for it.',
    action:
      'Ask the upstream for the transaction by its upstream_ref or batch_ref. Do not pay again until the ' +
      'upstream confirms in writing that nothing was paid. Then pay with a new Idempotency-Key and resolve ' +
      'this finding.',
  },
  duplicate_upstream: {
    severity: 'high',
    title: 'Paid twice by the upstream',
    meaning: 'The upstream lists one of our payments more than once.',
    action:
      'Ask the upstream to reverse the second transaction, and name both by upstream_ref. Ask the ' +
      'recipient whether both arrived. Do not deduct the amount from the next payout before you know.',
  },
  key_paid_twice: {
    severity: 'high',
    title: 'One key, two paid calls',
    meaning:
      'Two calls of one client and operation have one idempotency key, and our records count both as paid.',
    action:
      'Open both calls and ask the client whether it meant two payments. A key is freed only when its call ' +
      'was not executed, so check who settled the first call too early, and by which evidence. If one ' +
      'payment was meant, ask the upstream to reverse the other.',
  },
  amount_over: {
    severity: 'high',
    title: 'Overpaid',
    meaning: 'The upstream paid more than requested.',
    action:
      'Ask the upstream which rate and rounding it used, and to refund the difference. If this recurs for ' +
      'one country or wallet, stop payouts there until the upstream responds.',
  },
  status: {
    severity: 'high',
    title: 'Different outcome',
    meaning: 'The upstream and our records disagree about the outcome of a payment.',
    action:
      'Read the transaction again and ask the upstream when and why its status changed. If it was paid, ' +
      'never pay again.',
  },
  reversal: {
    severity: 'high',
    title: 'Reversed by the upstream',
    meaning: 'The upstream took back a payment that our records count as paid.',
    action:
      'Check that the money came back to the wallet. Then tell the client, who decides whether to pay ' +
      'again, with a new Idempotency-Key.',
  },
  recipient: {
    severity: 'high',
    title: 'Wrong recipient',
    meaning: 'The upstream names a different recipient than the request.',
    action:
      'Compare both recipients (scope audit:pii) with the client. If the wrong person was paid, ask the ' +
      'upstream for a reversal immediately. Do not pay the right person before the reversal is confirmed.',
  },
  unexplained_debit: {
    severity: 'high',
    title: 'Wallet debit without a transaction',
    meaning: 'A wallet entry reduced the balance, and no listed transaction explains it.',
    action:
      'Ask the upstream which transaction the entry belongs to. If the transaction is not in the ' +
      "listing, the listing is incomplete. If there is no transaction, the upstream's key may have " +
      'leaked. Then act as for an unknown transaction.',
  },
  amount_under: {
    severity: 'medium',
    title: 'Underpaid',
    meaning: 'The upstream paid less than requested.',
    action:
      'Ask the upstream whether it kept a fee or still owes the rest. Do not send the rest until the ' +
      'upstream confirms that it will not pay it.',
  },
  fee: {
    severity: 'medium',
    title: 'Unexpected fee',
    meaning:
      'The fee of the upstream differs from RECONCILIATION_FEE_PERCENT, or the upstream lists a fee on its ' +
      'own.',
    action:
      'Compare the fee with the contract. If the contract has changed, update RECONCILIATION_FEE_PERCENT ' +
      'and run the period again. Otherwise, claim the difference.',
  },
  refund: {
    severity: 'medium',
    title: 'Refunded by the upstream',
    meaning: 'The upstream gave back the money of a payment, or lists a refund.',
    action:
      'Find the refunded payment, and check that the money came back to the wallet. Then tell the client ' +
      'that the recipient was not paid.',
  },
  unexplained_credit: {
    severity: 'medium',
    title: 'Wallet credit without a transaction',
    meaning:
      'A wallet entry raised the balance, and neither a listed transaction nor its description explains it.',
    action:
      'Ask the upstream where the money came from. It may be the refund of a payment of an earlier period: ' +
      'then reconcile that period again. If it is your own top-up, mark the finding as explained.',
  },
  balance_gap: {
    severity: 'medium',
    title: 'Wallet balance gap',
    meaning: 'The balance of a wallet changed without an entry that explains it.',
    action:
      'Ask the upstream for all entries of the wallet between the two. Look for findings with the same ' +
      'time and amount, because a missing or duplicated transaction would explain the gap.',
  },
  late: {
    severity: 'low',
    title: 'Carried out late',
    meaning: 'The upstream carried the payment out long after the request.',
    action:
      'Nothing is owed. If this recurs, tell the upstream. Keep RESOLVER_QUIET_SECONDS longer than the ' +
      'longest delay, so that no call is settled as not_executed too early.',
  },
  unrecognised_status: {
    severity: 'low',
    title: 'Unknown status',
    meaning: 'The upstream uses an unknown status, so it is unclear whether money moved.',
    action:
      'Ask the upstream what the status means. Until then, the totals use our own outcome. Do not pay ' +
      'again because of this status.',
  },
} as const satisfies Record<string, CategoryDefinition>;

export type Category = keyof typeof CATEGORIES;

export const CATEGORY_NAMES = Object.keys(CATEGORIES) as Category[];

export function ofSeverity(severity: Severity): Category[] {
  return CATEGORY_NAMES.filter((name) => CATEGORIES[name].severity === severity);
}
