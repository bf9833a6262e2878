/** Limits of concurrent work on this instance, per key and in total. */
export interface Quota {
  /** For one key, those that wait for their turn included. */
  ofKey: number;
  /** For all keys. Unlimited if undefined. */
  ofAll?: number;
  /** Maximum number at work. The others wait, and keys take turns. Undefined for all. */
  atWork?: number;
  /**
   * Whether the next turn begins only after a rest five times as long as the last turn, while payments are
   * made. A summary rests while it works.
   */
  rests?: boolean;
  /** Name in the error. */
  name: string;
  /** Seconds until one of them has probably ended. */
  retryAfter: number;
}

/**
 * Postgres often has two cores, and payments need them too. One search and one export at a time leave enough
 * to payments. More would answer nobody sooner, because each would take longer. They rest between two turns,
 * because payments need more than one of two cores when their moment comes.
 */
const HEAVY_AT_WORK = 1;

export const QUOTAS = {
  /**
   * More than an instance has on the way to the upstream at once: UPSTREAM_CONNECTIONS and UPSTREAM_QUEUE.
   */
  requests: { ofKey: 500, name: 'requests', retryAfter: 1 },
  /** Some windows of the console, and some programs. A stream costs about 20 kB. */
  streams: { ofKey: 10, ofAll: 1_000, name: 'streams', retryAfter: 10 },
  /**
   * Requests that wait for news of a call (`?wait=`). Less than all requests of a key, so that it can pay
   * meanwhile.
   */
  waits: { ofKey: 250, ofAll: 1_000, name: 'waiting requests', retryAfter: 2 },
  /**
   * An export that nobody reads costs its buffers, of at most a megabyte. Reading its next rows takes a turn.
   */
  exports: { ofKey: 2, ofAll: 16, atWork: HEAVY_AT_WORK, rests: true, name: 'exports', retryAfter: 10 },
  /** They are streamed like exports, but read by people, in several windows. */
  reports: { ofKey: 6, ofAll: 100, name: 'reports', retryAfter: 10 },
  /** Searches and summaries: whatever may read much of the history. */
  searches: { ofKey: 8, ofAll: 200, atWork: HEAVY_AT_WORK, rests: true, name: 'searches', retryAfter: 2 },
  /** Searches of apps for their own calls, which are short and urgent: apps ask what became of a payment. */
  own_calls: { ofKey: 16, ofAll: 400, atWork: 2, name: 'searches for own calls', retryAfter: 1 },
  /** Parsing long bodies. One at a time, so that other requests run between two steps of one of them. */
  long_bodies: { ofKey: Infinity, atWork: 1, name: 'long bodies', retryAfter: 1 },
  /** A preview decides as an admission does, and searches for earlier payments. */
  previews: { ofKey: 8, ofAll: 200, atWork: 2, name: 'previews', retryAfter: 1 },
} as const satisfies Record<string, Quota>;

export type QuotaName = keyof typeof QUOTAS;

/** Returns whether a quota rests between its turns while payments are made. */
export function restsBetweenTurns(name: QuotaName): boolean {
  const { rests = false }: Quota = QUOTAS[name];
  return rests;
}

/** Maximum wait for a turn, in ms. Callers usually wait for half a minute. */
export const LONGEST_WAIT_MS = 15_000;
