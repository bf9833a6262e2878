/** Time since its last request during which a client shares the shedder, in ms. */
const ACTIVE_MS = 60_000;

/** Upper bound of Retry-After, in seconds. Not all refused requests come back. */
const LONGEST_RETRY_AFTER = 30;

interface ActiveClient {
  requestedAt: number;
  /** Time at which its last refused request was told to come back. */
  returnsAt: number;
}

/** The clients that share a shedder. */
export class ActiveClients {
  /** The latest are at the end. */
  private readonly clients = new Map<string, ActiveClient>();

  constructor(private readonly nowMs: () => number) {}

  /** Records a request of a client. */
  record(client: string): ActiveClient {
    const now = this.nowMs();
    const known = this.clients.get(client) ?? { requestedAt: now, returnsAt: now };
    known.requestedAt = now;
    this.clients.delete(client);
    this.clients.set(client, known);
    for (const [other, { requestedAt }] of this.clients) {
      if (now - requestedAt < ACTIVE_MS) break;
      this.clients.delete(other);
    }
    return known;
  }

  hasOthers(client: string): boolean {
    return this.countWith(client) > 1;
  }

  /** Returns the number of active clients, including this one. */
  countWith(client: string): number {
    return this.clients.size + (this.clients.has(client) ? 0 : 1);
  }

  /**
   * Returns the seconds after which a refused request of a client may come back. Each comes back after the
   * one before it, at the pace of the turns, so they are not refused together again.
   * @param soonestMs time until there may be room, in ms.
   * @param intervalMs time between two turns of the client, in ms.
   */
  retryAfter(client: string, soonestMs: number, intervalMs: number): number {
    const now = this.nowMs();
    const known = this.record(client);
    const latest = now + LONGEST_RETRY_AFTER * 1_000;
    known.returnsAt = Math.min(Math.max(now + soonestMs, known.returnsAt + intervalMs), latest);
    return Math.max(1, Math.ceil((known.returnsAt - now) / 1_000));
  }
}
