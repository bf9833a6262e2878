import type { Behaviour } from '../behaviour';
import type { Words } from '../lies';

/** The newer status words of answers and events (docs/reference/upstream.md, "Transaction record"). */
const NEW_STATUS_WORDS = new Map([
  ['unpaid', 'PENDING'],
  ['pending', 'PENDING'],
  ['paid', 'SUCCESSFUL'],
  ['redeemed', 'completed'],
  ['expired', 'CANCELLED'],
  ['failed', 'FAILED'],
  ['fraud', 'FAILED'],
]);

/** Returns the word that is shown for a status: the one that the settings name, or the newer one, or the status. */
export function shownStatus(status: string, quirks: Behaviour['quirks'], words: Words): string {
  const named = Object.hasOwn(words, status) ? words[status] : undefined;
  return named ?? (quirks.newStatusWords ? NEW_STATUS_WORDS.get(status) : undefined) ?? status;
}
