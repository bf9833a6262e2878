import { Injectable, OnModuleDestroy } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { StandingService } from '../../access/auth/standing.service';
import { Problem } from '../../platform/errors/problem';

export const EVENT_STREAM = 'text/event-stream';

/** What lies between does not end a connection on which something is said so often. */
const KEEP_ALIVE_MS = 15_000;

/** What EventSource is told to wait before it connects again. */
const RECONNECT_MS = 2_000;

/** Of one key, on this instance: some windows of the console, and some programs. */
export const MAX_STREAMS_OF_KEY = 10;

/** What there is to tell now. */
export interface News {
  /** As `eventOf` writes it. It is sent if it is another one than the last; undefined: there is none. */
  event: string | undefined;
  /** Whether the stream ends with it. */
  isLast: boolean;
}

/** Answers with server-sent events (HTML Living Standard, 9.2). */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  private readonly stopping = new AbortController();
  /** How many streams each key has open, by its id. */
  private readonly openOf = new Map<string, number>();

  constructor(private readonly standing: StandingService) {}

  /**
   * The body of an answer that goes on until the last news, until nobody listens any more, until its key or session no longer
   * holds, or until the server stops.
   * @param reply gets the headers of such an answer.
   * @param ask is asked for news at once and then every so often; it never throws.
   * @throws Problem `too_many_streams` if its key has as many open as it may.
   */
  open(reply: FastifyReply, everyMs: number, ask: () => Promise<News>): Readable {
    const { call } = reply.request;
    this.takePlace(call.caller?.keyId ?? '', reply);
    void reply
      .header('content-type', EVENT_STREAM)
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no');
    const left = new AbortController();
    if (reply.raw.closed) left.abort(); // before there was anything to tell
    else reply.raw.once('close', () => left.abort());
    const signal = AbortSignal.any([this.stopping.signal, left.signal]);
    return Readable.from(blocks(everyMs, ask, this.standing.watch(call), signal), { objectMode: false });
  }

  private takePlace(keyId: string, { raw }: FastifyReply): void {
    const open = this.openOf.get(keyId) ?? 0;
    if (open >= MAX_STREAMS_OF_KEY) throw new Problem('too_many_streams');
    if (raw.closed) return; // nobody would give its place back
    this.openOf.set(keyId, open + 1);
    raw.once('close', () => {
      const left = (this.openOf.get(keyId) ?? 1) - 1;
      if (left === 0) this.openOf.delete(keyId);
      else this.openOf.set(keyId, left);
    });
  }

  /** Streams end; their readers connect again, elsewhere. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }
}

/** Returns whether the caller asks for events instead of one response. */
export function wantsEvents(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes(EVENT_STREAM) ?? false;
}

/** @param id comes back as `Last-Event-ID` when the reader connects again. */
export function eventOf(name: string, data: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

async function* blocks(
  everyMs: number,
  ask: () => Promise<News>,
  holds: () => Promise<boolean>,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  yield `retry: ${RECONNECT_MS}\n\n`;
  let told: string | undefined;
  let toldAt = performance.now();
  for (;;) {
    const { event, isLast } = await ask();
    if (event !== undefined && event !== told) {
      yield event;
      told = event;
      toldAt = performance.now();
    } else if (performance.now() - toldAt > KEEP_ALIVE_MS) {
      yield ': nothing new\n\n';
      toldAt = performance.now();
    }
    if (isLast) return;
    await sleep(everyMs, undefined, { signal }).catch(() => undefined); // woken by the stop, or as nobody listens
    if (signal.aborted || !(await holds())) return;
  }
}
