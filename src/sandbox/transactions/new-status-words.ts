/** What newer answers and events call each status; docs/reference/upstream.md, Transaction record. */
const NEW_STATUS_WORDS: Record<string, string> = {
  unpaid: 'PENDING',
  pending: 'PENDING',
  paid: 'SUCCESSFUL',
  redeemed: 'completed',
  expired: 'CANCELLED',
  failed: 'FAILED',
  fraud: 'FAILED',
};

/** A word that has no newer one stays. */
export function newStatusWord(word: string): string {
  return NEW_STATUS_WORDS[word] ?? word;
}
