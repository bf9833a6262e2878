import { Injectable, OnModuleDestroy } from '@nestjs/common';
import { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Run, RunReader } from './run-reader';

/** How often the database is asked: as often as progress is written. */
const EVERY_MS = 500;

/** What lies between does not end a connection on which something is said so often. */
const KEEP_ALIVE_MS = 15_000;

/** What EventSource is told to wait before it connects again. */
const RECONNECT_MS = 2_000;

/** With this as its Last-Event-ID, a reader that connects again has heard all there is. */
export const LAST_EVENT = 'end';

/**
 * Tells how far a run is, as server-sent events (HTML Living Standard, 9.2): `progress` as often as something changed, then
 * `end`, or `interrupted` where nobody works on it any more. All is read from the database: whichever instance is asked, and
 * however often somebody connects again, each begins with what holds now.
 */
@Injectable()
export class RunStreams implements OnModuleDestroy {
  private readonly stopping = new AbortController();

  constructor(private readonly reader: RunReader) {}

  /** @param reader where it is written to: when that closes, nobody listens any more. */
  of(run: Run, reader: ServerResponse): Readable {
    const left = new AbortController();
    if (reader.closed)
      left.abort(); // while the run was being read
    else reader.once('close', () => left.abort());
    const signal = AbortSignal.any([this.stopping.signal, left.signal]);
    return Readable.from(this.events(run, signal), { objectMode: false });
  }

  /** Streams end; their readers connect again, elsewhere. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }

  private async *events(first: Run, signal: AbortSignal): AsyncGenerator<string, void> {
    yield `retry: ${RECONNECT_MS}\n\n`;
    let run: Run | undefined = first;
    let told = '';
    let toldAt = performance.now();
    for (;;) {
      const event = run && eventOf(run);
      if (event && event !== told) {
        yield event;
        told = event;
        toldAt = performance.now();
      } else if (performance.now() - toldAt > KEEP_ALIVE_MS) {
        yield ': still at work\n\n';
        toldAt = performance.now();
      }
      if (run && (run.end || !run.held)) return;
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined); // woken by the stop, or as nobody listens
      if (signal.aborted) return;
      run = await this.reader.one(first.id).catch(() => undefined); // the database may be back in a moment
    }
  }
}

function eventOf({ end, held, progress }: Run): string | undefined {
  if (end) {
    const { result, failure, totals } = end;
    return `id: ${LAST_EVENT}\nevent: end\ndata: ${JSON.stringify({ result, failure, totals })}\n\n`;
  }
  if (!held) {
    const detail = 'Nobody works on this run any more. Ask for it again: it goes on, and gives the same result.';
    return `event: interrupted\ndata: ${JSON.stringify({ detail })}\n\n`;
  }
  return progress ? `event: progress\ndata: ${JSON.stringify(progress)}\n\n` : undefined;
}
