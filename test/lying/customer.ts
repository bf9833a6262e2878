import { randomUUID } from 'node:crypto';
import { eventually } from '../support/payments/paying';
import { Habit, Kind, Payment, PayStep } from './schedule';
import { Arrival, LyingWorld, AppReply } from './world';

/** Timeout of an impatient client in ms. Below the proxy's timeout for the upstream. */
const TIMEOUT_MS = 60;

const TRIES = 3;

/** A call caused by a request. */
export interface Call {
  id: string;
  /** Items of the request that it pays, by position in the call. */
  places: number[];
  /** Transactions of the upstream, by position. */
  chiRefs: string[];
}

/** A payout that a client wants made once, however often it sends it. */
export interface Order {
  kind: Kind;
  items: Payment[];
  calls: Call[];
  replies: AppReply[];
  /** Number of times the API allowed a resend, per item. */
  allowed: number[];
}

/** A client with a habit and its orders. */
export class Customer {
  readonly orders: Order[] = [];
  /** The call that reports each item, for the obedient client. */
  private readonly followed = new Map<Order, (Call & { position: number })[]>();

  private constructor(
    private readonly world: LyingWorld,
    readonly habit: Habit,
    readonly id: string,
    readonly key: string,
  ) {}

  static async of(world: LyingWorld, habit: Habit, name: string, capUsd: number | null): Promise<Customer> {
    const { id, key } = await world.client(name, 'pay', 'read');
    await world.proxy.database.query('UPDATE client SET daily_cap_usd = $2 WHERE id = $1', [id, capUsd]);
    return new Customer(world, habit, id, key);
  }

  /** Orders a payout, and retries by its habit. */
  async order(
    { kind, items }: Pick<PayStep, 'kind' | 'items'>,
    meanwhile: () => Promise<void>,
  ): Promise<Order> {
    const order: Order = { kind, items, calls: [], replies: [], allowed: items.map(() => 0) };
    this.orders.push(order);
    const places = [...items.keys()];
    const key = randomUUID();
    const sameKey = () => key;
    switch (this.habit) {
      case 'no key':
        await this.insist(order, places, () => undefined, meanwhile);
        break;
      case 'new keys':
        await this.insist(order, places, randomUUID, meanwhile);
        break;
      case 'impatient':
        await this.send(order, places, { key, timeoutMs: TIMEOUT_MS, tries: 2 });
        await meanwhile();
        await this.insist(order, places, sameKey, () => Promise.resolve());
        break;
      case 'hasty':
        await this.send(order, places, { key: randomUUID(), timeoutMs: TIMEOUT_MS });
        await meanwhile();
        if (order.replies.at(-1)?.status !== 200) await this.insist(order, places, randomUUID, meanwhile);
        break;
      case 'obedient':
        await this.send(order, places, { key });
        await meanwhile();
        await this.obey();
        break;
    }
    return order;
  }

  /** Reads the state of each payout, and resends those that the API allows. */
  async obey(): Promise<void> {
    if (this.habit !== 'obedient') return;
    for (const order of this.orders) {
      const [first] = order.calls;
      const followed =
        this.followed.get(order) ?? first?.places.map((_, position) => ({ ...first, position })) ?? [];
      this.followed.set(order, followed);
      for (const [place, { id, position }] of followed.entries()) {
        const { body } = await this.world.get(this.key, `/v1/calls/${id}`);
        const { next } = (body.items as { next: string }[])[position] ?? {};
        if (next !== 'send_again') continue;
        order.allowed[place] = (order.allowed[place] ?? 0) + 1;
        const [again] = await this.send(order, [place], { key: randomUUID() });
        if (again) followed[place] = { ...again, position: 0 };
      }
    }
  }

  /** Sends a request until it succeeds: again after any 5xx and 409. */
  private async insist(
    order: Order,
    places: number[],
    key: () => string | undefined,
    meanwhile: () => Promise<void>,
  ): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const idempotencyKey = key();
      await this.send(order, places, idempotencyKey === undefined ? {} : { key: idempotencyKey });
      const status = order.replies.at(-1)?.status ?? 0;
      if (tries === TRIES || (status < 500 && status !== 409)) return;
      await meanwhile();
    }
  }

  private async send(
    order: Order,
    places: number[],
    { key, timeoutMs, tries = 1 }: { key?: string; timeoutMs?: number; tries?: number },
  ): Promise<Call[]> {
    const items = places.flatMap((place) => order.items[place] ?? []);
    for (let n = 0; n < tries; n += 1) {
      const signal = timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) };
      const reply = await this.world
        .pay(this.key, order.kind, items, { ...(key !== undefined && { key }), ...signal })
        .catch(() => undefined);
      if (reply) order.replies.push(reply);
    }
    await this.world.idle(this.id);
    return this.attribute(order, places);
  }

  /**
   * Finds the new calls of this client and their transactions. A request that its client abandoned may still
   * arrive. Then the next attempt finds its call.
   */
  private async attribute(order: Order, places: number[]): Promise<Call[]> {
    const known = this.orders.flatMap(({ calls }) => calls.map(({ id }) => id));
    let ids: string[] = [];
    let arrivals: Arrival[] = [];
    await eventually(async () => {
      ids = (await this.callIds()).filter((id) => !known.includes(id));
      arrivals = await this.world.newArrivals();
      return ids.length === arrivals.length;
    });
    this.world.attributed(arrivals);
    const calls = ids.map((id, nth): Call => ({ id, places, chiRefs: arrivals[nth]?.chiRefs ?? [] }));
    order.calls.push(...calls);
    return calls;
  }

  /** Sent calls, in the order of their admission. */
  private async callIds(): Promise<string[]> {
    const sql = `SELECT i.id::text FROM intent i JOIN outcome o ON o.intent_id = i.id
      WHERE client_id = $1 AND o.kind <> 'not_sent' ORDER BY i.id`;
    return (await this.world.proxy.database.query<{ id: string }>(sql, [this.id])).map(({ id }) => id);
  }
}
