import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Problem } from '../../platform/errors/problem';

/**
 * Wrong keys allowed per address and minute. People mistype a few times, and apps retry an old key a few
 * times. A guessing script sends thousands.
 */
export const WRONG_KEYS_ALLOWED = 20;
const WINDOW_MS = 60_000;
/** Cache size: a few megabytes. The least recently seen networks are evicted. */
const MAX_NETWORKS = 10_000;

/**
 * Rejects wrong keys, and throttles addresses that send many. Counts only unknown keys, so a guesser cannot
 * shut out valid keys of the same address. Counts stay in memory: guesses must not cause writes.
 */
export class KeyGuessing {
  private readonly wrongKeys = new LRUCache<string, { count: number; endsAt: number }>({ max: MAX_NETWORKS });

  /** @param now the monotonic clock, in ms. */
  constructor(private readonly now = () => performance.now()) {}

  /**
   * Counts an unknown key or an invalid token.
   * @param problem the error for the caller.
   * @returns the error, or `too_many_attempts` for the rest of the minute once the address exceeds the limit.
   */
  problemOf(address: string, problem = new Problem('invalid_key')): Problem {
    const network = networkOf(address);
    const known = this.wrongKeys.get(network);
    const wrong = known && known.endsAt > this.now() ? known : { count: 0, endsAt: this.now() + WINDOW_MS };
    const count = wrong.count + 1;
    this.wrongKeys.set(network, { ...wrong, count });
    if (count <= WRONG_KEYS_ALLOWED) return problem;
    return new Problem('too_many_attempts', { retryAfter: Math.ceil((wrong.endsAt - this.now()) / 1_000) });
  }
}

/** Returns the IPv4 address, or the /64 of an IPv6 address, because one network owns a whole /64. */
export function networkOf(address: string): string {
  // Strips the prefix of an IPv4-mapped address (RFC 4291, section 2.5.5.2) and a zone.
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (isIP(plain) !== 6) return plain;
  // The hostname has no leading zeros.
  const [before = '', after] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const groups = before === '' ? [] : before.split(':');
  const missing = after === undefined ? 0 : 8 - groups.length - (after === '' ? 0 : after.split(':').length);
  const all = [...groups, ...Array<string>(missing).fill('0'), ...(after ? after.split(':') : [])];
  return all.slice(0, 4).join(':');
}
