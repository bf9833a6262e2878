import { Injectable } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { eventOf, EventStreams } from '../../http/streams/event-streams.service';
import { Run, RunReader } from './run-reader';

/** Reads the database as often as progress is written. */
const EVERY_MS = 500;

/** A reader that connects again with this Last-Event-ID has received everything. */
export const LAST_EVENT = 'end';

/**
 * Streams the progress of a run as server-sent events: `progress` when something changed, then `end`, or `interrupted`
 * if no process works on the run any more. Every event is read from the database. A stream therefore begins with the
 * current state, on any instance and after any reconnect.
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
      run ??= await this.reader.one(first.id).catch(() => undefined); // The database may be back in a moment.
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
