import { FairLines } from '../../http/shares/fair-lines';
import { AdaptiveLimit } from './adaptive-limit';
import { Place, Priority } from './place';

/** How many requests go on in a second. */
class Pace {
  private second = 0;
  private counted = 0;
  private before = 0;

  count(nowMs: number): void {
    this.turn(nowMs);
    this.counted += 1;
  }

  perSecond(nowMs: number): number {
    this.turn(nowMs);
    return Math.max(this.counted, this.before);
  }

  private turn(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    if (second === this.second) return;
    this.before = second === this.second + 1 ? this.counted : 0;
    this.counted = 0;
    this.second = second;
  }
}

/** No place became free in time, or too many requests wait for one. */
export class GateFull extends Error {
  constructor() {
    super('too many requests wait for a place');
  }
}

/** How long a request waits for a place in a standing queue. Waiting longer would let nobody through sooner. */
const STANDING_WAIT_MS = 200;

/** A queue stands once it has not been empty for this long, and until it has been empty for this long. */
const STANDING_MS = 1_000;

/** A client that shares the gate with others leaves them this part of the places. */
const LEFT_TO_OTHERS = 1 / 4;

/** Reads never take more than this part of the places. */
const SHARE_OF_READS = 1 / 2;

/** How long a client counts as one of those that share the gate, after its last request. */
const ACTIVE_MS = 60_000;

interface Waiting {
  client: string;
  enter: (place: Place) => void;
  refuse: () => void;
}

/**
 * Decides which requests go on to the database and the upstream, before anything is written about them. A request takes a
 * place for its admission and its exchange with the upstream. If none is free, it waits a moment in the line of its client.
 */
export class Gate {
  private readonly queues = { payment: new FairLines<Waiting>(), read: new FairLines<Waiting>() };
  private readonly paces = { payment: new Pace(), read: new Pace() };
  private readonly held = new Map<string, number>();
  private readonly seenAt = new Map<string, number>();
  private used = 0;
  private usedByReads = 0;
  private emptyAt: number;
  /** When the queue was last seen standing. */
  private stoodAt = -Infinity;
  readonly admissions: AdaptiveLimit;

  /**
   * @param places the number of connections to the upstream.
   * @param mostWaiting the largest number of waiting requests, for each priority.
   * @param burstWaitMs how long a request waits for a place, in milliseconds, while the queue is short-lived: a burst.
   */
  constructor(
    private readonly places: number,
    private readonly mostWaiting: number,
    private readonly burstWaitMs: number,
    readonly nowMs: () => number = () => performance.now(),
  ) {
    this.admissions = new AdaptiveLimit(places, nowMs);
    this.emptyAt = nowMs();
  }

  get waiting(): number {
    return this.queues.payment.size + this.queues.read.size;
  }

  get inUse(): number {
    return this.used;
  }

  /** Whether a request would be refused at once. It costs little to ask, before the body of the request is read. */
  isFull(client: string, priority: Priority): boolean {
    const queue = this.queues[priority];
    return queue.size >= this.roomFor(priority) && !queue.maySqueezeIn(client);
  }

  /**
   * Resolves once the request may go on.
   * @param patienceMs the longest time that the request can wait.
   * @throws GateFull
   */
  async enter(client: string, priority: Priority, patienceMs = Infinity): Promise<Place> {
    this.see(client);
    if (this.fits(client, priority)) return this.take(client, priority); // those that wait may not take this place
    const queue = this.queues[priority];
    if (this.isFull(client, priority)) throw new GateFull();
    if (queue.size >= this.roomFor(priority)) queue.takeFromLongest()?.refuse();
    return this.wait(client, priority, Math.min(patienceMs, this.isStanding ? STANDING_WAIT_MS : this.burstWaitMs));
  }

  /** Gives a place back. Its holder calls it once. */
  leave({ client, priority }: Place): void {
    this.used -= 1;
    if (priority === 'read') this.usedByReads -= 1;
    const left = (this.held.get(client) ?? 1) - 1;
    if (left === 0) this.held.delete(client);
    else this.held.set(client, left);
    this.letIn();
  }

  /** Lets those in for whom there is a place now. */
  letIn(): void {
    for (const priority of ['payment', 'read'] as const) {
      const queue = this.queues[priority];
      for (;;) {
        const next = queue.next((client) => this.fits(client, priority));
        if (!next) break;
        next.enter(this.take(next.client, priority));
      }
    }
    if (this.waiting === 0) this.emptyAt = this.nowMs();
  }

  private wait(client: string, priority: Priority, patienceMs: number): Promise<Place> {
    const queue = this.queues[priority];
    return new Promise((resolve, reject) => {
      const over = () => {
        clearTimeout(timer);
        reject(new GateFull());
      };
      const waiting: Waiting = {
        client,
        refuse: over,
        enter: (place) => {
          clearTimeout(timer);
          resolve(place);
        },
      };
      const timer = setTimeout(() => {
        queue.remove(client, waiting);
        if (this.waiting === 0) this.emptyAt = this.nowMs();
        over();
      }, patienceMs);
      if (this.waiting === 0) this.emptyAt = this.nowMs();
      queue.add(client, waiting);
    });
  }

  private take(client: string, priority: Priority): Place {
    this.used += 1;
    if (priority === 'read') this.usedByReads += 1;
    this.paces[priority].count(this.nowMs());
    this.held.set(client, (this.held.get(client) ?? 0) + 1);
    return new Place(this, client, priority);
  }

  private fits(client: string, priority: Priority): boolean {
    if (this.used >= this.places || !this.admissions.hasRoom) return false;
    if (priority === 'read' && this.usedByReads >= Math.ceil(this.places * SHARE_OF_READS)) return false;
    const own = this.held.get(client) ?? 0;
    return own < this.places - Math.floor(this.places * LEFT_TO_OTHERS) || !this.hasOthers(client);
  }

  /**
   * Whether the queue is no burst, but stands. Then it is only as long as its requests can wait. Such a queue is so short
   * that it is empty for moments, although the load goes on.
   */
  private get isStanding(): boolean {
    const now = this.nowMs();
    const isBusy = this.waiting > 0;
    const stands = now - this.stoodAt < STANDING_MS || (isBusy && now - this.emptyAt > STANDING_MS);
    if (stands && isBusy) this.stoodAt = now;
    return stands;
  }

  private roomFor(priority: Priority): number {
    if (!this.isStanding) return this.mostWaiting;
    const soon = Math.ceil((this.paces[priority].perSecond(this.nowMs()) * STANDING_WAIT_MS) / 1_000);
    return Math.min(this.mostWaiting, Math.max(1, soon));
  }

  /** Remembers who shares the gate. Those seen last are at the end. */
  private see(client: string): void {
    const now = this.nowMs();
    this.seenAt.delete(client);
    this.seenAt.set(client, now);
    for (const [other, at] of this.seenAt) {
      if (now - at < ACTIVE_MS) break;
      this.seenAt.delete(other);
    }
  }

  private hasOthers(client: string): boolean {
    return this.seenAt.size - (this.seenAt.has(client) ? 1 : 0) > 0;
  }
}
