import { Injectable, OnModuleDestroy } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { StandingService } from '../../access/auth/standing.service';
import { Problem } from '../../platform/errors/problem';

export const EVENT_STREAM = 'text/event-stream';

/** Often enough that intermediaries do not close an idle connection. */
const KEEP_ALIVE_MS = 15_000;

/** The time that EventSource waits before it reconnects. */
const RECONNECT_MS = 2_000;

/** For one key on this instance: some windows of the console, and some programs. */
export const MAX_STREAMS_OF_KEY = 10;

/** The next news of a stream. */
interface News {
  /** The event, from `eventOf`. It is sent if it differs from the last one. Undefined if there is none. */
  event: string | undefined;
  /** Whether the stream ends after it. */
  isLast: boolean;
}

/** Answers with server-sent events (HTML Living Standard, 9.2). */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  private readonly stopping = new AbortController();
  /** The number of open streams of each key, by its ID. */
  private readonly openOf = new Map<string, number>();

  constructor(private readonly standing: StandingService) {}

  /**
   * Returns the body of a streamed answer. It ends after the last news, when nobody reads it any more, when its key or
   * session is no longer valid, or when the server stops.
   * @param reply gets the headers of such an answer.
   * @param ask returns news, at once and then regularly. It never throws.
   * @throws Problem `too_many_streams` if the key has too many open streams.
   */
  open(reply: FastifyReply, everyMs: number, ask: () => Promise<News>): Readable {
    const { call } = reply.request;
    this.takePlace(call.caller?.keyId ?? '', reply);
    void reply
      .header('content-type', EVENT_STREAM)
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no');
    const left = new AbortController();
    if (reply.raw.closed) left.abort(); // before the first event
    else reply.raw.once('close', () => left.abort());
    const signal = AbortSignal.any([this.stopping.signal, left.signal]);
    return Readable.from(blocks(everyMs, ask, this.standing.watch(call), signal), { objectMode: false });
  }

  private takePlace(keyId: string, { raw }: FastifyReply): void {
    const open = this.openOf.get(keyId) ?? 0;
    if (open >= MAX_STREAMS_OF_KEY) throw new Problem('too_many_streams');
    if (raw.closed) return; // the connection is gone, so nothing would release the place
    this.openOf.set(keyId, open + 1);
    raw.once('close', () => {
      const left = (this.openOf.get(keyId) ?? 1) - 1;
      if (left === 0) this.openOf.delete(keyId);
      else this.openOf.set(keyId, left);
    });
  }

  /** Ends all streams. Their readers reconnect to another instance. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }
}

/** Returns whether the caller asks for events instead of one response. */
export function wantsEvents(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes(EVENT_STREAM) ?? false;
}

/** @param id comes back as `Last-Event-ID` when the reader reconnects. */
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
    await sleep(everyMs, undefined, { signal }).catch(() => undefined); // the stop or the end of the connection wakes it
    if (signal.aborted || !(await holds())) return;
  }
}
