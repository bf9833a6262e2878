import { randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, OnModuleDestroy } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { holderOf } from '../../access/auth/call';
import { CredentialRecheckService } from '../../access/auth/credential-recheck.service';
import { disconnectSignal } from '../connections/caller-disconnected';
import { QuotasService } from '../quotas/quotas.service';

export const EVENT_STREAM = 'text/event-stream';

/** Interval of keep-alive comments. Shorter than the idle timeout of intermediaries. */
const KEEP_ALIVE_MS = 15_000;

/** Wait of an EventSource before it reconnects. */
const RECONNECT_MS = 2_000;

/** Updates per second of all streams while payments arrive. Each takes half a millisecond. */
const NEWS_PER_SECOND = 50;

/** Longest interval of a stream. Readers take a silence of half a minute for an outage. */
const LONGEST_INTERVAL_MS = 6_000;

/** The next update of a stream. */
interface StreamUpdate {
  /** The event, from `eventOf`. It is sent if it differs from the last one. Undefined if there is none. */
  event: string | undefined;
  /** Whether the stream ends after it. */
  isLast: boolean;
}

/** Answers with server-sent events (HTML Living Standard, 9.2). */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  private readonly stopping = new AbortController();

  constructor(
    private readonly rechecks: CredentialRecheckService,
    private readonly quotas: QuotasService,
  ) {}

  /**
   * Returns the body of a streamed answer. It ends after the last update, when its reader leaves, when its
   * key or session is no longer valid, or when the server stops.
   * @param reply gets the headers of such an answer.
   * @param everyMs the interval of news. It is longer while payments arrive, if many streams are open.
   * @param ask returns news, at once and then regularly. It never throws.
   * @throws Problem if the key has too many open streams. See `QuotasService.take`.
   */
  open(reply: FastifyReply, everyMs: number, ask: () => Promise<StreamUpdate>): Readable {
    const { call } = reply.request;
    const gone = disconnectSignal(reply);
    const give = this.quotas.take('streams', holderOf(call));
    void reply
      .header('content-type', EVENT_STREAM)
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no');
    const signal = AbortSignal.any([this.stopping.signal, gone]);
    const interval = () => this.interval(everyMs);
    const stream = Readable.from(blocks(interval, ask, this.rechecks.watch(call), signal), {
      objectMode: false,
    });
    if (gone.aborted) give(); // nothing else would free the slot of a stream without events
    else reply.raw.once('close', give);
    return stream;
  }

  private interval(everyMs: number): number {
    if (!this.quotas.isPaying) return everyMs;
    const fairMs = (this.quotas.inUse('streams') / NEWS_PER_SECOND) * 1_000;
    return Math.max(everyMs, Math.min(fairMs, LONGEST_INTERVAL_MS));
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
  interval: () => number,
  ask: () => Promise<StreamUpdate>,
  holds: () => Promise<boolean>,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  yield `retry: ${RECONNECT_MS}\n\n`;
  let sent: string | undefined;
  let sentAt = performance.now();
  // Streams that were opened together do not stay together: hundreds of them at once would hold up payments.
  let waitMs = randomInt(interval());
  for (;;) {
    const { event, isLast } = await ask();
    if (event !== undefined && event !== sent) {
      yield event;
      sent = event;
      sentAt = performance.now();
    } else if (performance.now() - sentAt > KEEP_ALIVE_MS) {
      yield ': nothing new\n\n';
      sentAt = performance.now();
    }
    if (isLast) return;
    // the stop or the end of the connection wakes it
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    waitMs = interval();
    if (signal.aborted || !(await holds())) return;
  }
}
