import { Secret } from '../../../platform/config/secrets/secret';
import { KeyRemover } from './key-remover';

/** Returns the headers of every request to the upstream. */
function headersOf(key: string): Record<string, string> {
  return {
    'X-API-Key': key,
    Accept: 'application/json',
    'Accept-Encoding': 'identity', // a coding between two servers would only cost time
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

/** The upstream's key, which requests carry and answers may quote. Replaceable during requests. */
export class Credentials {
  /** Removes every key of this process, because answers to earlier requests may quote a replaced one. */
  readonly remover = new KeyRemover();
  private current!: { headers: Record<string, string>; raw: string[]; rawWithBody: string[] };

  constructor(key: Secret) {
    this.replace(key);
  }

  /** The headers of a request. */
  get headers(): Readonly<Record<string, string>> {
    return this.current.headers;
  }

  /** The headers of a request without a body, as names and values in turn. */
  get raw(): readonly string[] {
    return this.current.raw;
  }

  get rawWithBody(): readonly string[] {
    return this.current.rawWithBody;
  }

  /** Uses another key for every unsent request. */
  replace(key: Secret): void {
    this.remover.add(key.reveal());
    const headers = headersOf(key.reveal());
    const raw = Object.entries(headers).flat();
    this.current = { headers, raw, rawWithBody: [...raw, 'Content-Type', 'application/json'] };
  }
}
