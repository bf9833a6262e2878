import { LRUCache } from 'lru-cache';
import { Notifications } from '../../platform/database/notifications';
import { Caller } from './call';

/** The triggers of the tables `client` and `api_key` notify this channel. */
const CHANNEL = 'callers_changed';

/** More keys than are in use. Beyond that, the least recently used are forgotten. */
const MAX_KNOWN = 10_000;

/** A caller that was looked up longer ago is looked up again, whatever was heard. */
const KNOWN_FOR_MS = 10_000;

/**
 * Remembers callers until a client or a key changes. Whoever relies on a remembered caller proves later that it is still
 * right: the statement that admits a call checks it again (`rights`).
 */
export class KnownCallers {
  private readonly callers = new LRUCache<string, Caller>({ max: MAX_KNOWN, ttl: KNOWN_FOR_MS });
  private readonly notifications: Notifications;
  /** Counts the changes, so that the result of a lookup that one of them overtook is not kept. */
  private changes = 0;

  constructor(databaseUrl: string) {
    this.notifications = new Notifications(databaseUrl, CHANNEL, () => this.forget());
  }

  get(key: string): Caller | undefined {
    return this.notifications.isListening ? this.callers.get(key) : undefined;
  }

  /** Looks up a caller and remembers it. */
  async remember(key: string, lookUp: () => Promise<Caller | undefined>): Promise<Caller | undefined> {
    const { changes } = this;
    const caller = await lookUp();
    if (caller && changes === this.changes) this.callers.set(key, caller);
    return caller;
  }

  stop(): Promise<void> {
    return this.notifications.stop();
  }

  private forget(): void {
    this.changes += 1;
    this.callers.clear();
  }
}
