import { LRUCache } from 'lru-cache';
import { isIP } from 'node:net';
import { Problem } from '../../platform/errors/problem';

/** A person mistypes a key some times, an app with an old one tries a few more; a script that guesses sends thousands. */
export const WRONG_KEYS_ALLOWED = 20;
const WINDOW_MS = 60_000;
/** Some megabytes; of more, those seen least lately are forgotten. */
const MAX_NETWORKS = 10_000;

/**
 * Answers wrong keys, and slows down addresses that send many of them. It never concerns a valid key: a request is judged here
 * only after its key was looked up and not found, so nobody can shut out who shares an address with a guesser. It keeps its
 * counts in memory, for this process alone: guesses must not be able to write to the database.
 */
export class KeyGuessing {
  private readonly wrongKeys = new LRUCache<string, { count: number; endsAt: number }>({ max: MAX_NETWORKS });

  /** @param now monotonic, milliseconds. */
  constructor(private readonly now = () => performance.now()) {}

  /**
   * Counts a key that does not exist. @returns `invalid_key`, or `too_many_attempts` until the address's minute is over if more
   * came from it than are allowed.
   */
  problemOf(address: string): Problem {
    const network = networkOf(address);
    const known = this.wrongKeys.get(network);
    const wrong = known && known.endsAt > this.now() ? known : { count: 0, endsAt: this.now() + WINDOW_MS };
    const count = wrong.count + 1;
    this.wrongKeys.set(network, { ...wrong, count });
    if (count <= WRONG_KEYS_ALLOWED) return new Problem('invalid_key');
    return new Problem('too_many_attempts', { retryAfter: Math.ceil((wrong.endsAt - this.now()) / 1_000) });
  }
}

/** An IPv4 address as it is; of an IPv6 address the first 64 bits: whoever has one such network has all its addresses. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, ''); // IPv4 over an IPv6 socket; a zone
  if (isIP(plain) !== 6) return plain;
  const [before = '', after] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::'); // without leading zeros
  const groups = before === '' ? [] : before.split(':');
  const missing = after === undefined ? 0 : 8 - groups.length - (after === '' ? 0 : after.split(':').length);
  const all = [...groups, ...Array<string>(missing).fill('0'), ...(after ? after.split(':') : [])];
  return all.slice(0, 4).join(':');
}
