import { LRUCache } from 'lru-cache';
import { isIP } from 'node:net';
import { Problem } from '../../platform/errors/problem';

/**
 * Wrong keys per address and minute. A person mistypes a key a few times, and an app with an old key retries a few
 * times. A script that guesses sends thousands.
 */
export const WRONG_KEYS_ALLOWED = 20;
const WINDOW_MS = 60_000;
/** Uses some megabytes. Beyond that, the addresses seen least recently are forgotten. */
const MAX_NETWORKS = 10_000;

/**
 * Rejects wrong keys, and slows down addresses that send many of them. Valid keys are never affected, because a request
 * gets here only after its key was not found. A guesser therefore cannot shut out others at the same address. The
 * counts are kept in the memory of this process, so that guesses cannot write to the database.
 */
export class KeyGuessing {
  private readonly wrongKeys = new LRUCache<string, { count: number; endsAt: number }>({ max: MAX_NETWORKS });

  /** @param now monotonic, milliseconds. */
  constructor(private readonly now = () => performance.now()) {}

  /**
   * Counts a key that does not exist, or a token that is not valid.
   * @param problem what the caller is told.
   * @returns the problem, or `too_many_attempts` for the rest of the minute once its address has sent too many.
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

/**
 * Returns the IPv4 address, or the first 64 bits of an IPv6 address, because one network has all addresses with these
 * bits.
 */
export function networkOf(address: string): string {
  // Removes the prefix of IPv4 over an IPv6 socket, and a zone.
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (isIP(plain) !== 6) return plain;
  // The hostname has no leading zeros.
  const [before = '', after] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const groups = before === '' ? [] : before.split(':');
  const missing = after === undefined ? 0 : 8 - groups.length - (after === '' ? 0 : after.split(':').length);
  const all = [...groups, ...Array<string>(missing).fill('0'), ...(after ? after.split(':') : [])];
  return all.slice(0, 4).join(':');
}
