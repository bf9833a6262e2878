import { LRUCache } from 'lru-cache';
import { Caller, hasEnded } from './caller';
import { MAX_SEEN } from './key-look-ups';

/** Admission does not check the person of a key, which nothing but SQL by hand can change. It counts after this time. */
const REMEMBERED_FOR_MS = 10_000;

/**
 * Remembers the callers of keys or tokens, so that their next requests need not ask the database for them. Only for requests
 * that admission decides about, because admission checks whether the caller is still valid and has the same rights.
 */
export class RememberedCallers {
  private readonly callers = new LRUCache<string, Caller>({ max: MAX_SEEN, ttl: REMEMBERED_FOR_MS });

  /**
   * Returns a caller that is remembered, or looks it up and remembers it.
   * @param sha256 of its key or token.
   * @param mayAsk decides whether a remembered caller may ask. A caller that may not is looked up again, so that no request is
   * refused by rights that have changed.
   */
  async find<Found extends Caller | undefined>(
    sha256: string,
    mayAsk: (caller: Caller) => boolean,
    lookUp: () => Promise<Found>,
  ): Promise<Caller | Found> {
    const remembered = this.callers.get(sha256);
    if (remembered && !hasEnded(remembered) && mayAsk(remembered)) return remembered;
    const caller = await lookUp();
    this.callers.set(sha256, caller); // undefined forgets it
    return caller;
  }

  /**
   * Compares a caller with what was found for admission, and forgets all if it has changed. Rights change rarely, and then often
   * those of several callers.
   * @param now undefined if its key or token is no longer valid.
   */
  compare(before: Caller, now: Caller | undefined): void {
    if (now?.rights !== before.rights) this.callers.clear();
  }
}
