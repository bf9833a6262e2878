import { randomUUID } from 'node:crypto';
import { EQUAL_PAYMENTS, Order, OrderedItem, requestOf } from './orders';
import type { Reply, SimulatedWorld } from './world';

/** Attempts with one key while the client waits for an answer. */
const TRIES = 2;

/** New requests of one client for one payout. */
const MOST_NEW = 3;

/** Requests of the habit `at-once`. */
const AT_ONCE = 3;

/** One request that a client repeats with its key until it knows the result. */
interface Attempt {
  items: OrderedItem[];
  key: string;
  reply: Reply | undefined;
}

/** A payout whose state a client reads, in its newest call. */
interface FollowedPayout {
  item: OrderedItem;
  callId: string;
  position: number;
  requests: number;
}

/** A client that wants one order. */
export class Customer {
  private readonly attempts: Attempt[] = [];
  private readonly followed: FollowedPayout[] = [];

  constructor(
    private readonly world: SimulatedWorld,
    readonly order: Order,
  ) {}

  /** Orders, or continues by its habit after some time. */
  async act(): Promise<void> {
    const isFirst = this.attempts.length === 0;
    switch (this.order.habit) {
      case 'once':
        return isFirst ? void (await this.send(this.newAttempt())) : undefined;
      case 'same-key':
        return isFirst ? this.insist(this.newAttempt()) : this.insistOnAll();
      case 'at-once': {
        if (!isFirst) return this.insistOnAll();
        const attempt = this.newAttempt();
        await Promise.all(Array.from({ length: AT_ONCE }, () => this.send(attempt)));
        return;
      }
      case 'equal':
        if (!isFirst) return this.insistOnAll();
        for (let nth = 0; nth < EQUAL_PAYMENTS; nth += 1) await this.payAgain(this.newAttempt());
        return;
      case 'new-key':
        if (isFirst) await this.follow(this.newAttempt());
        else await this.obey();
        return;
    }
  }

  private newAttempt(items = this.order.items): Attempt {
    const attempt = { items, key: randomUUID(), reply: undefined };
    this.attempts.push(attempt);
    return attempt;
  }

  private async send(attempt: Attempt, duplicateOf?: string): Promise<Reply> {
    const { path, body } = requestOf(this.order.kind, attempt.items);
    const reply = await this.world.post(path, body, {
      'X-API-Key': this.order.client.key,
      'Idempotency-Key': attempt.key,
      ...(duplicateOf !== undefined && { 'Allow-Duplicate-Of': duplicateOf }),
    });
    attempt.reply = reply;
    return reply;
  }

  private async insistOnAll(): Promise<void> {
    for (const attempt of this.attempts) {
      if (attempt.reply?.body.code === 'suspected_duplicate') await this.payAgain(attempt);
      else if (mayRepeat(attempt.reply)) await this.insist(attempt);
    }
  }

  /** Repeats a request with its key while the API advises to. */
  private async insist(attempt: Attempt): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (!mayRepeat(await this.send(attempt))) return;
    }
  }

  /** Pays, also in addition to an equal payment. */
  private async payAgain(attempt: Attempt): Promise<void> {
    let reply = await this.send(attempt);
    for (let tries = 0; tries < TRIES && reply.body.code === 'suspected_duplicate'; tries += 1) {
      reply = await this.send(attempt, String(reply.body.first_call_id));
    }
  }

  /** Sends a request whose payouts the client then reads, with a new key if the API advises one. */
  private async follow(attempt: Attempt, duplicateOf?: string): Promise<boolean> {
    const { callId, body } = await this.send(attempt, duplicateOf);
    if (body.action === 'new_key') return this.follow(this.newAttempt(attempt.items));
    if (body.code === 'suspected_duplicate' && duplicateOf === undefined) {
      const first = String(body.first_call_id);
      const isFree = (await this.itemsOf(first)).every(({ next }) => next === 'send_again');
      return isFree ? this.follow(attempt, first) : false;
    }
    if (callId === null || (await this.itemsOf(callId)).some(({ state }) => state === null)) return false;
    for (const [position, item] of attempt.items.entries()) {
      const known = this.followed.find((one) => one.item === item);
      if (known) Object.assign(known, { callId, position, requests: known.requests + 1 });
      else this.followed.push({ item, callId, position, requests: 1 });
    }
    return true;
  }

  /** Reads the state of each payout, and sends those again that the API allows. */
  private async obey(): Promise<void> {
    if (this.followed.length === 0) {
      for (const attempt of [...this.attempts]) if (mayRepeat(attempt.reply)) await this.follow(attempt);
      return;
    }
    for (const payout of this.followed) {
      const { next } = (await this.itemsOf(payout.callId))[payout.position] ?? {};
      if (next !== 'send_again' || payout.requests >= MOST_NEW) continue;
      await this.follow(this.newAttempt([payout.item]));
    }
  }

  private async itemsOf(callId: string): Promise<{ state: string | null; next: string | null }[]> {
    const { items } = await this.world.get(`/v1/calls/${callId}`, this.order.client.key);
    return items as { state: string | null; next: string | null }[];
  }
}

/** Codes with the action `ask` whose text allows the same key. */
const SAME_KEY_AFTER_ASKING: readonly unknown[] = ['upstream_auth'];

/** Returns whether the documented advice after a reply is to send the same request with the same key. */
function mayRepeat(reply: Reply | undefined): boolean {
  if (!reply) return true;
  const { status, body } = reply;
  if (status < 300 && body.status === 'success') return false;
  const { action, code } = body;
  if (action === 'fix_request' || action === 'new_key') return false;
  if (action === 'ask') return SAME_KEY_AFTER_ASKING.includes(code);
  // The upstream's own error has no action. The same key never pays twice.
  return true;
}
