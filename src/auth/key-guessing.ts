import { LRUCache } from 'lru-cache';
import { isIP } from 'node:net';
import { Problem } from '../errors/problem';

/** A person mistypes a key some times, an app with an old one tries a few more; a script that guesses sends thousands. */
export const WRONG_KEYS_ALLOWED = 20;
const WINDOW_MS = 60_000;
/** An app that was idle over lunch still goes on beside a guesser. */
const KNOWN_FOR_MS = 3_600_000;
/** Some megabytes each; of more, those seen least lately are forgotten. */
const MAX_NETWORKS = 10_000;
const MAX_KEYS = 10_000;

/**
 * Shuts out addresses that send many wrong keys. It keeps its counts in memory, for this process alone: guesses must not
 * be able to write to the database, and behind the limit they do not even ask it.
 */
export class KeyGuessing {
  private readonly wrongKeys = new LRUCache<string, { count: number; endsAt: number }>({ max: MAX_NETWORKS });
  /** By SHA-256, when a key was last seen to be valid. */
  private readonly validKeys = new LRUCache<string, number>({ max: MAX_KEYS });

  /** @param now monotonic, milliseconds. */
  constructor(private readonly now = () => performance.now()) {}

  /**
   * A key that was valid within the last hour is let through: its app may share its address with the guesser.
   * @throws Problem `too_many_attempts` until the address's minute is over.
   */
  check(address: string, keySha256: Buffer): void {
    const wrong = this.wrongKeys.get(networkOf(address));
    if (!wrong || wrong.count <= WRONG_KEYS_ALLOWED || wrong.endsAt <= this.now()) return;
    if (this.now() - (this.validKeys.get(nameOf(keySha256)) ?? -Infinity) < KNOWN_FOR_MS) return;
    throw new Problem('too_many_attempts', { retryAfter: Math.ceil((wrong.endsAt - this.now()) / 1_000) });
  }

  noteValid(keySha256: Buffer): void {
    this.validKeys.set(nameOf(keySha256), this.now());
  }

  noteWrong(address: string, keySha256: Buffer): void {
    this.validKeys.delete(nameOf(keySha256)); // it may have been revoked since
    const network = networkOf(address);
    const known = this.wrongKeys.get(network);
    const wrong = known && known.endsAt > this.now() ? known : { count: 0, endsAt: this.now() + WINDOW_MS };
    this.wrongKeys.set(network, { ...wrong, count: wrong.count + 1 });
  }
}

function nameOf(keySha256: Buffer): string {
  return keySha256.toString('base64');
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
