/** The headers of every request to the upstream. */
export function headersOf(key: string): Record<string, string> {
  return {
    'X-API-Key': key,
    Accept: 'application/json',
    'Accept-Encoding': 'identity', // Its bytes are recorded and passed on unchanged.
    'User-Agent': 'payout-proxy',
  };
}

/** Returns a header, shortened to a sane length. Null without one. */
export function headerOf(headers: Record<string, unknown>, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value.slice(0, 255) : null;
}

/** `Retry-After` in its seconds form (RFC 9110, section 10.2.3); its date form is ignored. */
export function toSeconds(value: string | null): number | null {
  return value !== null && /^\d{1,6}$/.test(value) ? Number(value) : null;
}
