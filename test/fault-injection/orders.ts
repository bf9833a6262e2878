import { setTimeout as sleep } from 'node:timers/promises';

/** A client of the proxy: an app with a key and a cap. */
export interface App {
  id: string;
  name: string;
  key: string;
  /** Per day. Null for no cap. */
  capUsd: number | null;
  /** Per person and day. Null without persons. */
  personCapUsd: number | null;
}

/** A request that an app wants executed exactly once, through all its attempts. */
export interface Order {
  app: App;
  operation: string;
  /** Undefined for a GET. */
  body: object | undefined;
  query?: string;
  /** Person on whose behalf the app calls. */
  person?: string;
  /** Its Idempotency-Key. */
  key: string | undefined;
  /** Its preference, such as `respond-async`. */
  prefer?: string;
  attempts: Attempt[];
}

/** One attempt and its answer. */
export interface Attempt {
  /** Times of sending and answer, in milliseconds of performance.now(). */
  sentAt: number;
  endedAt: number;
  /** Null if the connection ended without an answer. */
  status: number | null;
  /** Code of an error of the proxy, or of the connection. */
  code: string | undefined;
  callId: string | undefined;
  retryAfterMs: number | undefined;
  /** Body of the answer. */
  json: Answer | undefined;
}

interface Answer {
  code?: string;
  status?: string;
  data?: unknown;
}

/** Timeout above any duration of an answer, in ms. */
const ANSWER_WITHIN_MS = 120_000;

/** Delay before a lost connection is retried, and the maximum Retry-After of the proxy. */
const RECONNECT_MS = 200;
const LONGEST_WAIT_MS = 2_000;

/** Answers after which an app must send the same request again. */
const AGAIN: readonly (number | null)[] = [null, 429, 503];

export const lastOf = ({ attempts }: Order): Attempt | undefined => attempts.at(-1);

/** Returns whether the app knows that its request was executed. */
export const isDone = (order: Order): boolean => lastOf(order)?.status === 200;

/** Returns whether the app got no answer, one that asks for a retry, or one that it does not prefer. */
export function isOpen(order: Order): boolean {
  const last = lastOf(order);
  if (last?.json?.status === 'queued') return order.prefer !== 'respond-async';
  return last === undefined || AGAIN.includes(last.status) || last.code === 'request_in_progress';
}

/** Returns whether the app's last answer was an unknown outcome. */
export const isInDoubt = (order: Order): boolean => lastOf(order)?.code === 'outcome_unknown';

/** Sends an order once. */
export async function attempt(url: string, order: Order): Promise<Attempt> {
  const [method = '', path = ''] = order.operation.split(' ');
  const sentAt = performance.now();
  const ended = (rest: Omit<Attempt, 'sentAt' | 'endedAt'>): Attempt => {
    const one = { sentAt, endedAt: performance.now(), ...rest };
    order.attempts.push(one);
    return one;
  };
  try {
    const response = await fetch(`${url}/api/v0.1${path}${order.query ? `?${order.query}` : ''}`, {
      method,
      headers: {
        'X-API-Key': order.app.key,
        ...(order.body && { 'Content-Type': 'application/json' }),
        ...(order.key !== undefined && { 'Idempotency-Key': order.key }),
        ...(order.person !== undefined && { 'X-Actor': order.person }),
        ...(order.prefer !== undefined && { Prefer: order.prefer }),
      },
      ...(order.body && { body: JSON.stringify(order.body) }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const json = parsed(await response.text());
    const retryAfter = response.headers.get('retry-after');
    return ended({
      status: response.status,
      code: json?.code,
      callId: response.headers.get('x-call-id') ?? undefined,
      retryAfterMs: retryAfter === null ? undefined : Number(retryAfter) * 1_000,
      json,
    });
  } catch (error) {
    const { name, cause } = error as { name: string; cause?: { code?: string } };
    return ended({
      status: null,
      code: cause?.code ?? name,
      callId: undefined,
      retryAfterMs: undefined,
      json: undefined,
    });
  }
}

/**
 * Sends an order until the answer is final, as documented for apps.
 * @param urlOf an instance, another one for each attempt.
 * @param giveUpAfterMs time after which the app gives up.
 */
export async function insist(urlOf: () => string, order: Order, giveUpAfterMs: number): Promise<void> {
  const givenUpAt = performance.now() + giveUpAfterMs;
  do {
    const { status, retryAfterMs = RECONNECT_MS } = await attempt(urlOf(), order);
    if (!isOpen(order)) return;
    await sleep(status === null ? RECONNECT_MS : Math.min(retryAfterMs, LONGEST_WAIT_MS));
  } while (performance.now() < givenUpAt);
}

/**
 * Starts orders at a fixed rate, independent of the results of earlier ones.
 * @param isOver ends the loop.
 * @returns once all started orders have ended.
 */
export async function openLoop(
  rate: number,
  isOver: () => boolean,
  begin: () => Promise<unknown>,
): Promise<void> {
  const running = new Set<Promise<unknown>>();
  const begun = performance.now();
  for (let count = 0; !isOver(); count += 1) {
    const wait = begun + (count * 1_000) / rate - performance.now();
    if (wait > 1) await sleep(wait);
    const one = begin().finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
}

/** Works on all items, `width` at a time. */
export async function inParallel<Item>(items: Item[], width: number, work: (item: Item) => Promise<unknown>) {
  const left = items.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of left) await work(item);
    }),
  );
}

function parsed(text: string): Answer | undefined {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return undefined;
  }
}
