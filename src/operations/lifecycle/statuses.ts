import { StartError } from '../../platform/config/config';

/**
 * The meanings of the upstream's status words. `unpaid` is a link that waits for its payer. A payout is never
 * unpaid. `paid` includes payouts accepted by the telco (trap 7), because the money has left the wallet.
 */
export const STATUSES = [
  'unpaid',
  'pending',
  'paid',
  'redeemed',
  'failed',
  'expired',
  'reversed',
  'refunded',
] as const;
export type Status = (typeof STATUSES)[number];

/**
 * The known words (docs/reference/upstream.md, "Transaction record"), in lower case. Words that were never
 * observed are omitted on purpose: they prove neither a payment nor a failure.
 */
const SEEN: Record<Status, readonly string[]> = {
  unpaid: ['unpaid'],
  pending: ['pending', 'processing'],
  paid: ['paid', 'successful', 'success', 'completed', 'complete', 'sent'],
  redeemed: ['redeemed'],
  failed: ['failed', 'unsuccessful', 'declined', 'rejected', 'cancelled', 'canceled', 'fraud'],
  // A deleted link can no longer be paid or redeemed.
  expired: ['expired', 'deleted'],
  reversed: ['reversed'],
  refunded: ['refunded'],
};

const BUILT_IN: ReadonlyMap<string, Status> = new Map(
  STATUSES.flatMap((status) => SEEN[status].map((word): [string, Status] => [word, status])),
);

/** The known words: observed and configured. Immutable. */
export class StatusVocabulary {
  private constructor(private readonly meanings: ReadonlyMap<string, Status>) {}

  /**
   * @param entries such as `settled_t2=paid`, as in UPSTREAM_STATUS_WORDS.
   * @throws StartError that lists every error.
   */
  static with(entries: readonly string[]): StatusVocabulary {
    const meanings = new Map(BUILT_IN);
    const errors: string[] = [];
    for (const entry of entries) {
      const [word = '', status = '', ...rest] = entry.split('=').map(plainWord);
      const before = meanings.get(word);
      if (word === '' || rest.length > 0 || !isStatus(status)) errors.push(`"${entry}" is not word=status`);
      else if (before !== undefined && before !== status) errors.push(`"${word}" already means ${before}`);
      else meanings.set(word, status);
    }
    if (errors.length > 0) {
      throw new StartError(
        `UPSTREAM_STATUS_WORDS: ${errors.join('; ')}. A status is one of ${STATUSES.join(', ')}.`,
      );
    }
    return new StatusVocabulary(meanings);
  }

  /** Returns the meaning of a word. Undefined without a word, or for an unknown one. */
  statusOf(word: string | null | undefined): Status | undefined {
    return word === null || word === undefined ? undefined : this.meanings.get(plainWord(word));
  }

  /**
   * Returns the status of an item in an answer, from its transaction and its handover to the telco. Two
   * different statuses contradict each other, and so does an error text with a status that is no failure.
   * Neither is then trusted.
   */
  statusOfItem(item: {
    status: string | null;
    payoutStatus?: string | null | undefined;
    payoutError?: string | null | undefined;
  }): Status | undefined {
    const words = [item.status, item.payoutStatus ?? null].filter((word) => word !== null);
    const [status, ...others] = words.map((word) => this.statusOf(word));
    if (others.some((other) => other !== status)) return undefined;
    return item.payoutError && status !== 'failed' ? undefined : status;
  }

  /** Returns the words with one of these meanings, in lower case. */
  wordsOf(...statuses: readonly Status[]): string[] {
    return [...this.meanings].flatMap(([word, status]) => (statuses.includes(status) ? [word] : []));
  }
}

/** Returns a word in the spelling of the vocabulary. */
export function plainWord(word: string): string {
  return word.trim().toLowerCase();
}

function isStatus(word: string): word is Status {
  return (STATUSES as readonly string[]).includes(word);
}
