import { CallerDisconnected } from '../../http/connections/caller-disconnected';
import { RoundRobinQueue } from '../../http/quotas/round-robin-queue';
import { ActiveClients } from './active-clients';
import { AdaptiveLimit } from './adaptive-limit';
import { Forecast, RequestsAhead } from './forecast';
import { Overloaded } from './overloaded';
import { Permit, PermitRequest, PRIORITIES, Priority } from './permit';
import { PermitPool } from './permit-pool';
import { ServiceTime } from './service-time';

/** Age up to which a forecast is used, in ms. A flood asks for thousands a second. */
const FORECAST_FOR_MS = 5;

/** Interval of the reviews of waiting requests, in ms. On a busy processor, they take place later. */
const REVIEW_EVERY_MS = 50;

/** Patience ends so many intervals between reviews early, so that a refusal is in time. */
const EARLY_BY_REVIEWS = 2;

type Refused = Pick<PermitRequest, 'client' | 'priority'>;

interface WaitingRequest extends PermitRequest {
  since: number;
  enter: (permit: Permit) => void;
  refuse: (reason: Error) => void;
}

interface ShedderOptions {
  /** Number of connections to the upstream. */
  permits: number;
  /** Room of the queue of each priority. */
  queueRoom: number;
  /** Time without a commit after which no request waits, in ms. */
  databaseStalledMs: number;
  nowMs?: () => number;
}

/**
 * Decides which requests proceed to the database and the upstream, before anything is written about them. A
 * request holds a permit during its admission and its exchange with the upstream. Without a free permit, it
 * waits in the line of its client, as long as its turn is expected within its patience.
 * See docs/internals/decisions/money/0069-wait-by-measurement.md.
 */
export class LoadShedder {
  readonly admissions: AdaptiveLimit;
  private readonly clients: ActiveClients;
  private readonly pool: PermitPool;
  private readonly queues = { payment: newQueue(), read: newQueue() };
  private readonly serviceTimes: Record<Priority, ServiceTime>;
  private readonly nowMs: () => number;
  private latest: Forecast | undefined;
  private reviews: NodeJS.Timeout | undefined;
  private reviewedAt = 0;
  /** Time between the last two reviews. */
  private reviewedEveryMs = REVIEW_EVERY_MS;
  private isClosing = false;

  constructor(private readonly options: ShedderOptions) {
    this.nowMs = options.nowMs ?? (() => performance.now());
    this.admissions = new AdaptiveLimit(options.permits, options.databaseStalledMs, this.nowMs);
    this.clients = new ActiveClients(this.nowMs);
    this.pool = new PermitPool(options.permits, this.clients);
    const newTime = () => new ServiceTime(options.permits);
    this.serviceTimes = { payment: newTime(), read: newTime() };
  }

  get waiting(): number {
    return this.queues.payment.size + this.queues.read.size;
  }

  get inUse(): number {
    return this.pool.used;
  }

  /** The wait that a payment of a new client can expect, in ms. */
  get expectedWaitMs(): number {
    return this.fits('', 'payment') ? 0 : this.turnOfNewMs(this.forecast(), '', 'payment');
  }

  /**
   * Requires that a request may enter or wait. Cheap to ask before its body is read.
   * @throws Overloaded
   */
  requireRoom(request: Omit<PermitRequest, 'isGone'>): void {
    const { client, priority, patienceMs } = request;
    if (this.fits(client, priority)) return;
    const forecast = this.forecast();
    if (!this.mayWait) throw this.overloaded(request, 0, forecast);
    const turnMs = this.turnOfNewMs(forecast, client, priority);
    if (this.isTooLate(turnMs, patienceMs)) throw this.overloaded(request, turnMs - patienceMs, forecast);
    if (!this.hasRoomFor(request) && !this.queues[priority].maySqueezeIn(client))
      throw this.overloaded(request, 0, forecast);
  }

  /**
   * Resolves once the request may proceed.
   * @throws Overloaded, or CallerDisconnected.
   */
  async enter(request: PermitRequest): Promise<Permit> {
    const { client, priority } = request;
    this.clients.record(client);
    // Waiting requests may not take this permit.
    if (this.fits(client, priority)) return this.take(client, priority, false);
    this.requireRoom(request);
    const queue = this.queues[priority];
    while (!this.hasRoomFor(request) && queue.maySqueezeIn(client)) {
      const last = queue.takeFromLongest();
      last?.refuse(this.overloaded(last, 0));
    }
    if (!this.hasRoomFor(request)) throw this.overloaded(request, 0);
    return this.wait(request);
  }

  /** Takes a permit for a queued call. Undefined while requests need them. */
  enterFromQueue(client: string): Permit | undefined {
    const hasRoom = this.mayWait && this.waiting === 0 && this.pool.hasForQueue(client);
    return hasRoom ? this.take(client, 'payment', false, true) : undefined;
  }

  /** Returns a permit. Its holder calls it once. */
  leave(permit: Permit): void {
    this.pool.remove(permit);
    this.serviceTimes[permit.priority].add(this.nowMs() - permit.takenAt);
    this.admitWaiting();
  }

  /** Admits waiting requests to free permits. */
  admitWaiting(): void {
    for (const priority of PRIORITIES) {
      for (;;) {
        const next = this.queues[priority].next((client) => this.fits(client, priority));
        if (!next) break;
        if (next.isGone()) next.refuse(new CallerDisconnected());
        else next.enter(this.take(next.client, priority, true));
      }
    }
    this.endReviews();
  }

  /** Refuses the waiting requests, and lets none wait any more. Another instance can serve them. */
  close(): void {
    this.isClosing = true;
    this.review();
  }

  /** False while the database does not commit. */
  private get mayWait(): boolean {
    return !this.isClosing && !this.admissions.isStalled;
  }

  private fits(client: string, priority: Priority): boolean {
    return this.admissions.hasRoom && this.pool.hasFor(client, priority);
  }

  private take(client: string, priority: Priority, hasWaited: boolean, isOfQueue = false): Permit {
    const permit = new Permit(this, client, priority, this.nowMs(), hasWaited, isOfQueue);
    this.pool.add(permit);
    return permit;
  }

  private wait(request: PermitRequest): Promise<Permit> {
    if (!this.reviews) this.reviewedAt = this.nowMs();
    this.reviews ??= setInterval(() => this.review(), REVIEW_EVERY_MS);
    return new Promise((enter, refuse) => {
      const waiting = { ...request, since: this.nowMs(), enter, refuse };
      this.queues[request.priority].add(request.client, waiting);
    });
  }

  /** Removes the requests whose callers are gone, and refuses those that would get their turns too late. */
  private review(): void {
    const forecast = this.forecast(0);
    this.reviewedEveryMs = Math.max(REVIEW_EVERY_MS, forecast.nowMs - this.reviewedAt);
    this.reviewedAt = forecast.nowMs;
    for (const priority of PRIORITIES) {
      const own = new Map<string, number>();
      let all = 0;
      for (const waiting of this.queues[priority].inTurnOrder()) {
        const { client } = waiting;
        const ahead = { all, own: own.get(client) ?? 0 };
        const reason = this.reasonToEnd(waiting, this.turnMs(forecast, client, priority, ahead), forecast);
        if (reason) {
          this.queues[priority].remove(client, waiting);
          waiting.refuse(reason);
          continue;
        }
        all += 1;
        own.set(client, ahead.own + 1);
      }
    }
    this.endReviews();
  }

  private reasonToEnd(waiting: WaitingRequest, turnMs: number, forecast: Forecast): Error | undefined {
    const { patienceMs, since, isGone } = waiting;
    if (isGone()) return new CallerDisconnected();
    if (!this.mayWait) return this.overloaded(waiting, 0, forecast);
    const leftMs = patienceMs - (this.nowMs() - since);
    if (!this.isTooLate(turnMs, leftMs)) return undefined;
    return this.overloaded(waiting, turnMs - patienceMs, forecast);
  }

  /** Whether its turn would come too late, or its refusal, if that is left to the next reviews. */
  private isTooLate(turnMs: number, leftMs: number): boolean {
    const isLate = turnMs > leftMs - EARLY_BY_REVIEWS * REVIEW_EVERY_MS;
    return isLate || leftMs < EARLY_BY_REVIEWS * this.reviewedEveryMs;
  }

  private endReviews(): void {
    if (this.waiting > 0) return;
    clearInterval(this.reviews);
    this.reviews = undefined;
    this.reviewedEveryMs = REVIEW_EVERY_MS;
  }

  private hasRoomFor({ priority, room }: Pick<PermitRequest, 'priority' | 'room'>): boolean {
    const { queueRoom } = this.options;
    return queueRoom > 0 && this.queues[priority].room + Math.min(room, queueRoom) <= queueRoom;
  }

  private forecast(forMs = FORECAST_FOR_MS): Forecast {
    const now = this.nowMs();
    if (this.latest && now - this.latest.nowMs < forMs) return this.latest;
    return (this.latest = new Forecast(this.pool.permits, this.serviceTimes, now));
  }

  private turnOfNewMs(forecast: Forecast, client: string, priority: Priority): number {
    const queue = this.queues[priority];
    const ahead = { all: queue.aheadOf(client), own: queue.sizeOf(client) };
    return this.turnMs(forecast, client, priority, ahead);
  }

  private turnMs(forecast: Forecast, client: string, priority: Priority, ahead: RequestsAhead): number {
    const turnMs = forecast.turnMs(priority, ahead, this.pool.limitsOn(client, priority));
    const payments = this.queues.payment.size;
    if (priority === 'payment' || payments === 0) return turnMs;
    const last = { all: payments - 1, own: 0 };
    return turnMs + forecast.turnMs('payment', last, this.pool.limitsOn('', 'payment'));
  }

  /** @param lateMs time by which its turn exceeds its patience. */
  private overloaded({ client, priority }: Refused, lateMs: number, forecast = this.forecast()) {
    const lines = Math.max(1, this.queues[priority].lineCount);
    const intervalMs = (lines * forecast.expectedMs[priority]) / this.pool.usedAtOnce;
    return Overloaded.for(this.clients.retryAfter(client, Math.max(0, lateMs), intervalMs));
  }
}

const newQueue = () => new RoundRobinQueue<WaitingRequest>(({ room }) => room);
