/** Limits of concurrent work on this instance, per key and in total. */
export interface Quota {
  /** Maximum per key, including those that wait for their turn. */
  ofKey: number;
  /** Maximum of all keys. Undefined is unlimited. */
  ofAll?: number;
  /** Maximum at work. The others wait, and keys take turns. Undefined is unlimited. */
  atWork?: number;
  /**
   * Whether the next turn begins only after a rest five times as long as the last turn, while payments are
   * made. A summary rests while it works.
   */
  rests?: boolean;
  /** Name in the error. */
  name: string;
  /** Seconds until one of them has usually ended. */
  retryAfter: number;
}

/**
 * Postgres often has two cores, and payments need them, too. One search and one export at a time leave enough
 * for payments. More would finish no sooner, because each would take longer. They rest between two turns,
 * because a payment needs more than one of two cores at its moment.
 */
const HEAVY_AT_WORK = 1;

export const QUOTAS = {
  /** Above the requests to the upstream at once: UPSTREAM_CONNECTIONS and UPSTREAM_QUEUE. */
  requests: { ofKey: 2_500, name: 'requests', retryAfter: 1 },
  /** Some windows of the console, and some programs. A stream costs about 20 kB. */
  streams: { ofKey: 10, ofAll: 1_000, name: 'streams', retryAfter: 10 },
  /** Requests that wait for a call (`?wait=`). Fewer than `requests`, so that a key can pay meanwhile. */
  waits: { ofKey: 250, ofAll: 1_000, name: 'waiting requests', retryAfter: 2 },
  /** A stalled export costs its buffers, at most a megabyte. Reading its next rows takes a turn. */
  exports: { ofKey: 2, ofAll: 16, atWork: HEAVY_AT_WORK, rests: true, name: 'exports', retryAfter: 10 },
  /** Streamed like exports, but for people with several windows. */
  reports: { ofKey: 6, ofAll: 100, name: 'reports', retryAfter: 10 },
  /** Searches, summaries, and other long reads of the history. */
  searches: { ofKey: 8, ofAll: 200, atWork: HEAVY_AT_WORK, rests: true, name: 'searches', retryAfter: 2 },
  /** Searches of apps for their own calls. They are short and urgent: apps look up outcomes of payments. */
  own_calls: { ofKey: 16, ofAll: 400, atWork: 2, name: 'searches for own calls', retryAfter: 1 },
  /** Parsing of long bodies. One at a time, so that other requests run between its steps. */
  long_bodies: { ofKey: Infinity, atWork: 1, name: 'long bodies', retryAfter: 1 },
  /** Previews. Each decides like an admission, and searches for earlier payments. */
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
