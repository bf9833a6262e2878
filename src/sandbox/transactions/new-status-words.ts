/** The newer status words of answers and events (docs/reference/upstream.md, "Transaction record"). */
const NEW_STATUS_WORDS: Record<string, string> = {
  unpaid: 'PENDING',
  pending: 'PENDING',
  paid: 'SUCCESSFUL',
  redeemed: 'completed',
  expired: 'CANCELLED',
  failed: 'FAILED',
  fraud: 'FAILED',
};

/** Returns the newer word, or the same word if there is none. */
export function newStatusWord(word: string): string {
  return NEW_STATUS_WORDS[word] ?? word;
}
