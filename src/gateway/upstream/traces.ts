/**
 * The fields that only a created transaction has (docs/reference/upstream.md, "Identifiers" and "Responses"), in lower
 * case.
 */
const IDS: ReadonlySet<string> = new Set(['chiref', 'tnxid']);
const NAMES: ReadonlySet<string> = new Set(['issueid', 'paymentlink', 'payoutlink', 'redeemlink', 'payouts']);

/**
 * Whether an answer names, at any depth, something that the upstream created: a transaction, a batch, a submitted
 * payout or a link. The answer's own claim of success does not matter. It never throws, however deep the value is.
 */
export function namesWork(answer: unknown): boolean {
  const left = [answer];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, field] of Object.entries(value)) {
      const known = name.toLowerCase();
      if (IDS.has(known) || (NAMES.has(known) && !isEmpty(field))) return true;
      if (typeof field === 'object') left.push(field);
    }
  }
  return false;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
