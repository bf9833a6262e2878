import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { clock } from '../../../platform/database/clock';
import { isObject } from '../../../platform/json/is-object';
import { parseJson } from '../../upstream/answers/answer';
import { OutgoingRequest } from '../../upstream/transport/outgoing';
import { TimedAnswer } from '../../upstream/upstream-account';

/** Room for the lists and for repeated conversions. Evicts the least recently used answer. */
const MAX_ANSWERS = 1_000;
const MAX_BYTES = 64 * 1_024 * 1_024; // One answer may have 8 MiB (UPSTREAM_MAX_RESPONSE_BYTES).

/** A cached answer, for several calls. */
interface CacheEntry {
  answer: TimedAnswer;
  /** The call that fetched it. */
  fetchedBy: string;
  /** Time of its end, on the monotonic clock. */
  at: number;
}

export interface ReadAnswer extends TimedAnswer {
  /** The other call that fetched it, and its age in whole seconds. Null if this call fetched it. */
  shared: { fetchedBy: string; age: number } | null;
}

/** Returns the cache key of a read's answer. Accounts may use different services, so none share answers. */
export function answerKey({ account, path }: Pick<OutgoingRequest, 'account' | 'path'>): string {
  return `${account} ${path}`;
}

/**
 * Caches answers that are the same for all clients and change slowly. Concurrent requests share one fetch.
 * Only successes are cached.
 * See docs/internals/decisions/upstream/0005-answers-that-are-kept.md.
 */
@Injectable()
export class AnswerCache {
  private readonly entries = new LRUCache<string, CacheEntry>({
    max: MAX_ANSWERS,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ answer: { answer } }, key) => 1 + key.length + (answer.body?.length ?? 0),
  });
  private readonly fetches = new Map<string, Promise<CacheEntry>>();

  constructor(@Inject(SETTINGS) private readonly settings: RunningConfig) {}

  /** Returns the cached bytes of a key without fetching. Undefined if not cached. */
  peek(key: string): Buffer | undefined {
    return this.entries.get(key)?.answer.answer.body ?? undefined;
  }

  /** Returns whether the answer of a key is cached or being fetched. */
  has(key: string): boolean {
    return this.entries.has(key) || this.fetches.has(key);
  }

  /** @param fetch requests and records the answer, because only recorded answers may be returned. */
  async get(key: string, callId: string, fetch: () => Promise<TimedAnswer>): Promise<ReadAnswer> {
    // No await before the fetch below is registered: concurrent requests must see it.
    const shared = this.entries.get(key) ?? this.fetches.get(key);
    if (shared) return reuse(await shared);
    const flight = this.fetch(key, callId, fetch);
    this.fetches.set(key, flight);
    return { ...(await flight).answer, shared: null };
  }

  private async fetch(key: string, callId: string, fetch: () => Promise<TimedAnswer>): Promise<CacheEntry> {
    try {
      const timed = await fetch();
      const { answer } = timed;
      const shared = { answer: timed, fetchedBy: callId, at: performance.now() };
      const ttl = Math.min(this.settings.infoCacheTtlSeconds * 1_000, validForMs(timed));
      if (answer.kind === 'succeeded' && ttl > 0) {
        const kept = { ...timed, answer: { ...answer, body: ownBytes(answer.body) } };
        this.entries.set(key, { ...shared, answer: kept }, { ttl });
      }
      return shared;
    } finally {
      this.fetches.delete(key);
    }
  }
}

function reuse({ answer, fetchedBy, at }: CacheEntry): ReadAnswer {
  return { ...answer, shared: { fetchedBy, age: Math.floor((performance.now() - at) / 1_000) } };
}

/** Copies small buffers. They are slices of larger ones, which would stay in memory. */
function ownBytes(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

/**
 * Returns the remaining validity of an answer. A conversion states its expiry (docs/reference/upstream.md,
 * `/info/usd-amount-in-local`). Other answers do not expire by themselves.
 */
function validForMs({ answer }: TimedAnswer): number {
  const envelope = answer.body && parseJson(answer.body);
  const data = isObject(envelope) && isObject(envelope.data) ? envelope.data : {};
  const until = typeof data.validUntil === 'string' ? Date.parse(data.validUntil) : NaN;
  return Number.isNaN(until) ? Infinity : until - clock.nowMs();
}
