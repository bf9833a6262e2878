/** The meaning of a status word for a transaction's money. */
export type Meaning = 'moved' | 'not_moved' | 'unpaid' | 'pending';

/**
 * The known status words (docs/reference/upstream.md, "Transaction record"), in lower case. The resolver and the runs
 * share this list. Words that nobody has seen are missing on purpose: they are not recognised, and prove neither a
 * payment nor a failure.
 */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ...words('moved', 'paid', 'redeemed', 'successful', 'success', 'completed', 'complete'),
  // Handed to the telco (trap 7), so the money has left the wallet. It may still be reversed, as with any word above.
  ...words('moved', 'sent'),
  ...words('not_moved', 'failed', 'unsuccessful', 'declined', 'rejected', 'expired', 'cancelled', 'canceled', 'fraud'),
  ...words('not_moved', 'reversed', 'refunded', 'deleted'),
  // A link that waits for its payer. A payout is never unpaid.
  ...words('unpaid', 'unpaid'),
  ...words('pending', 'pending', 'processing'),
]);

function words(meaning: Meaning, ...known: string[]): [string, Meaning][] {
  return known.map((word) => [word, meaning]);
}

/** Returns a status word in the spelling of this list. */
export function plainStatus(word: string): string {
  return word.trim().toLowerCase();
}

/** Returns the meaning of a status word. Undefined if the word is missing or not recognised. */
export function meaningOf(word: string | null): Meaning | undefined {
  return word === null ? undefined : MEANINGS.get(plainStatus(word));
}

/** Returns the known words that have one of these meanings. */
export function wordsOf(...meanings: Meaning[]): string[] {
  return [...MEANINGS].flatMap(([word, meaning]) => (meanings.includes(meaning) ? [word] : []));
}
