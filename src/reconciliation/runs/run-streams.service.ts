import { Injectable } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { eventOf, EventStreams } from '../../http/streams/event-streams.service';
import { Run, RunReader } from './run-reader';

/** How often the database is asked: as often as progress is written. */
const EVERY_MS = 500;

/** With this as its Last-Event-ID, a reader that connects again has heard all there is. */
export const LAST_EVENT = 'end';

/**
 * Tells how far a run is, as server-sent events: `progress` as often as something changed, then `end`, or `interrupted` where
 * nobody works on it any more. All is read from the database: whichever instance is asked, and however often somebody
 * connects again, each begins with what holds now.
 */
@Injectable()
export class RunStreams {
  constructor(
    private readonly reader: RunReader,
    private readonly streams: EventStreams,
  ) {}

  of(first: Run, reply: FastifyReply): Readable {
    let run: Run | undefined = first;
    return this.streams.open(reply, EVERY_MS, async () => {
      run ??= await this.reader.one(first.id).catch(() => undefined); // the database may be back in a moment
      const news = { event: run && newsOf(run), isLast: run !== undefined && (run.end !== null || !run.held) };
      run = undefined;
      return news;
    });
  }
}

function newsOf({ end, held, progress }: Run): string | undefined {
  if (end) {
    const { result, failure, totals } = end;
    return eventOf('end', { result, failure, totals }, LAST_EVENT);
  }
  if (!held) {
    const detail = 'This run was interrupted. Start it again to continue it. The result will be the same.';
    return eventOf('interrupted', { detail });
  }
  return progress ? eventOf('progress', progress) : undefined;
}
