/** The headers of every request to the upstream. */
export function headersOf(key: string): Record<string, string> {
  return {
    'X-API-Key': key,
    Accept: 'application/json',
    'Accept-Encoding': 'identity', // No time is lost for a coding between two servers.
    'User-Agent': 'payout-proxy',
  };
}

/** Returns a header, shortened to a sane length. Null without one. */
export function headerOf(headers: Record<string, unknown>, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value.slice(0, 255) : null;
}

/** A date of HTTP in one of its three forms (RFC 9110, section 5.6.7). All are in GMT, and the last one does not say so. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? [\w :-]{17,22}?( GMT)?$/;

/** Returns the seconds that `Retry-After` names, also as a date (RFC 9110, section 10.2.3). Null if it is not readable. */
export function toSeconds(value: string | null, nowMs: number): number | null {
  const text = value ?? '';
  const untilMs = HTTP_DATE.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : NaN;
  const seconds = Number.isNaN(untilMs) ? text : String(Math.max(0, Math.ceil((untilMs - nowMs) / 1_000)));
  return /^\d{1,6}$/.test(seconds) ? Number(seconds) : null;
}
