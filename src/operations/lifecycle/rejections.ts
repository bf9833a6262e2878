/** Failure code of an answer that rejects a change. Only the upstream's own lists can confirm it. */
export const UNVERIFIED_REJECTION = 'unverified_rejection';

/** The members of an outcome that determine its quiet period. */
interface RejectingOutcome {
  failure: string | null;
  upstreamStatus: number | null;
}

/**
 * Returns whether an answer is a plain rejection: the service's own envelope with 2xx or 4xx, or 401, 403 or
 * 429. The service has then finished, so a complete listing after the short quiet period is proof enough. A
 * 500 proves less, because such services also send it before they pay.
 */
export function isPlainRejection({ failure, upstreamStatus }: RejectingOutcome): boolean {
  return failure === UNVERIFIED_REJECTION && upstreamStatus !== null && upstreamStatus < 500;
}

export interface QuietPeriods {
  /** Quiet period after the proxy stopped waiting. A transaction unlisted at its end is never listed. */
  quietMs: number;
  /** Quiet period after a plain rejection. The shorter of the two applies. */
  rejectedQuietMs: number;
}

/** Reads the quiet periods from the settings. */
export function quietPeriodsOf(settings: {
  resolverQuietSeconds: number;
  resolverRejectedQuietSeconds: number;
}): QuietPeriods {
  return {
    quietMs: settings.resolverQuietSeconds * 1_000,
    rejectedQuietMs: settings.resolverRejectedQuietSeconds * 1_000,
  };
}

/** Returns the quiet period of a call in doubt. */
export function quietMsOf(isRejected: boolean, { quietMs, rejectedQuietMs }: QuietPeriods): number {
  return isRejected ? Math.min(quietMs, rejectedQuietMs) : quietMs;
}
