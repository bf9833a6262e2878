/** The headers of every request to the upstream. */
export function headersOf(key: string): Record<string, string> {
  return {
    'X-API-Key': key,
    Accept: 'application/json',
    'Accept-Encoding': 'identity', // A coding between two servers would only cost time.
    'User-Agent': 'payout-proxy',
  };
}

/** Returns a header, truncated to a sane length. Null without one. */
export function headerOf(headers: Record<string, unknown>, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value.slice(0, 255) : null;
}

/** An HTTP date in one of three forms (RFC 9110, section 5.6.7). All are in GMT, which the last omits. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? [\w :-]{17,22}?( GMT)?$/;

/** Returns the seconds of `Retry-After`, also from a date (RFC 9110, section 10.2.3). Null if unreadable. */
export function toSeconds(value: string | null, nowMs: number): number | null {
  const text = value ?? '';
  const untilMs = HTTP_DATE.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : NaN;
  const seconds = Number.isNaN(untilMs) ? text : String(Math.max(0, Math.ceil((untilMs - nowMs) / 1_000)));
  return /^\d{1,6}$/.test(seconds) ? Number(seconds) : null;
}
