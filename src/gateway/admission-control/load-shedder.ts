import { RoundRobinQueue } from '../../http/quotas/round-robin-queue';
import { AdaptiveLimit } from './adaptive-limit';
import { Permit, Priority } from './permit';

/** Measures the throughput in requests per second. */
class RateMeter {
  private second = 0;
  private counted = 0;
  private previous = 0;

  count(nowMs: number): void {
    this.advance(nowMs);
    this.counted += 1;
  }

  perSecond(nowMs: number): number {
    this.advance(nowMs);
    return Math.max(this.counted, this.previous);
  }

  private advance(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    if (second === this.second) return;
    this.previous = second === this.second + 1 ? this.counted : 0;
    this.counted = 0;
    this.second = second;
  }
}

/** No permit became free in time, or the queue is full. */
export class Overloaded extends Error {
  constructor() {
    super('too many requests wait for a permit');
  }
}

/** Wait for a permit in a standing queue, in ms. A longer one would not admit requests sooner. */
const STANDING_WAIT_MS = 200;

/** Time without an empty queue after which the queue stands. It stands until it has been empty as long. */
const STANDING_MS = 1_000;

/** Share of the permits that one client leaves to the others. */
const RESERVED_FOR_OTHERS = 1 / 4;

/** Largest share of the permits for reads. */
const SHARE_OF_READS = 1 / 2;

/** Time since its last request during which a client shares the shedder, in ms. */
const ACTIVE_MS = 60_000;

interface QueuedRequest {
  client: string;
  enter: (permit: Permit) => void;
  refuse: () => void;
}

/**
 * Decides which requests proceed to the database and the upstream, before anything is written about them. A
 * request holds a permit during its admission and its exchange with the upstream. Without a free permit, it
 * waits briefly in the line of its client.
 * See docs/internals/decisions/money/0043-refuse-before-writing.md.
 */
export class LoadShedder {
  private readonly queues = {
    payment: new RoundRobinQueue<QueuedRequest>(),
    read: new RoundRobinQueue<QueuedRequest>(),
  };
  private readonly rates = { payment: new RateMeter(), read: new RateMeter() };
  private readonly held = new Map<string, number>();
  private readonly lastRequestAt = new Map<string, number>();
  private used = 0;
  private usedByReads = 0;
  private emptyAt: number;
  /** Time when the queue last stood. */
  private stoodAt = -Infinity;
  readonly admissions: AdaptiveLimit;

  /**
   * @param permits number of connections to the upstream.
   * @param maxWaiting queue length per priority.
   * @param burstWaitMs wait for a permit during a burst, a short-lived queue.
   */
  constructor(
    private readonly permits: number,
    private readonly maxWaiting: number,
    private readonly burstWaitMs: number,
    readonly nowMs: () => number = () => performance.now(),
  ) {
    this.admissions = new AdaptiveLimit(permits, nowMs);
    this.emptyAt = nowMs();
  }

  get waiting(): number {
    return this.queues.payment.size + this.queues.read.size;
  }

  get inUse(): number {
    return this.used;
  }

  /** Whether a request would be refused at once. Cheap to ask before the body is read. */
  isFull(client: string, priority: Priority): boolean {
    const queue = this.queues[priority];
    return queue.size >= this.roomFor(priority) && !queue.maySqueezeIn(client);
  }

  /**
   * Resolves once the request may proceed.
   * @param timeoutMs longest wait of the request.
   * @throws Overloaded
   */
  async enter(client: string, priority: Priority, timeoutMs = Infinity): Promise<Permit> {
    this.recordRequest(client);
    // Waiting requests may not take this permit.
    if (this.fits(client, priority)) return this.take(client, priority);
    const queue = this.queues[priority];
    if (this.isFull(client, priority)) throw new Overloaded();
    if (queue.size >= this.roomFor(priority)) queue.takeFromLongest()?.refuse();
    return this.wait(
      client,
      priority,
      Math.min(timeoutMs, this.isStanding ? STANDING_WAIT_MS : this.burstWaitMs),
    );
  }

  /** Returns a permit. Its holder calls it once. */
  leave({ client, priority }: Permit): void {
    this.used -= 1;
    if (priority === 'read') this.usedByReads -= 1;
    const left = (this.held.get(client) ?? 1) - 1;
    if (left === 0) this.held.delete(client);
    else this.held.set(client, left);
    this.admitWaiting();
  }

  /** Admits waiting requests to free permits. */
  admitWaiting(): void {
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

  private wait(client: string, priority: Priority, timeoutMs: number): Promise<Permit> {
    const queue = this.queues[priority];
    return new Promise((resolve, reject) => {
      const refuse = () => {
        clearTimeout(timer);
        reject(new Overloaded());
      };
      const waiting: QueuedRequest = {
        client,
        refuse,
        enter: (permit) => {
          clearTimeout(timer);
          resolve(permit);
        },
      };
      const timer = setTimeout(() => {
        queue.remove(client, waiting);
        if (this.waiting === 0) this.emptyAt = this.nowMs();
        refuse();
      }, timeoutMs);
      if (this.waiting === 0) this.emptyAt = this.nowMs();
      queue.add(client, waiting);
    });
  }

  private take(client: string, priority: Priority): Permit {
    this.used += 1;
    if (priority === 'read') this.usedByReads += 1;
    this.rates[priority].count(this.nowMs());
    this.held.set(client, (this.held.get(client) ?? 0) + 1);
    return new Permit(this, client, priority);
  }

  private fits(client: string, priority: Priority): boolean {
    if (this.used >= this.permits || !this.admissions.hasRoom) return false;
    if (priority === 'read' && this.usedByReads >= Math.ceil(this.permits * SHARE_OF_READS)) return false;
    const own = this.held.get(client) ?? 0;
    return own < this.permits - Math.floor(this.permits * RESERVED_FOR_OTHERS) || !this.hasOthers(client);
  }

  /**
   * Whether the queue stands and is not just a burst. A standing queue is only as long as its requests can
   * wait. It is so short that it may be empty for moments under continuous load.
   */
  private get isStanding(): boolean {
    const now = this.nowMs();
    const isBusy = this.waiting > 0;
    const stands = now - this.stoodAt < STANDING_MS || (isBusy && now - this.emptyAt > STANDING_MS);
    if (stands && isBusy) this.stoodAt = now;
    return stands;
  }

  private roomFor(priority: Priority): number {
    if (!this.isStanding) return this.maxWaiting;
    const soon = Math.ceil((this.rates[priority].perSecond(this.nowMs()) * STANDING_WAIT_MS) / 1_000);
    return Math.min(this.maxWaiting, Math.max(1, soon));
  }

  /** Records a client that shares the shedder. The latest are at the end. */
  private recordRequest(client: string): void {
    const now = this.nowMs();
    this.lastRequestAt.delete(client);
    this.lastRequestAt.set(client, now);
    for (const [other, at] of this.lastRequestAt) {
      if (now - at < ACTIVE_MS) break;
      this.lastRequestAt.delete(other);
    }
  }

  private hasOthers(client: string): boolean {
    return this.lastRequestAt.size - (this.lastRequestAt.has(client) ? 1 : 0) > 0;
  }
}
