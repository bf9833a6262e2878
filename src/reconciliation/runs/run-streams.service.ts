import { Injectable } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { eventOf, EventStreams } from '../../http/streams/event-streams.service';
import { SharedReads } from '../../http/streams/shared-reads';
import { Run, RunReader } from './run-reader';
import { stateOf } from './run-record';
import { RunState } from './runs.dto';

/** Reads the database as often as progress is written. */
const EVERY_MS = 500;

/** The states that a run does not leave. */
const LAST_STATES: RunState[] = ['interrupted', 'ended'];

/** A reader that connects again with this Last-Event-ID has received everything. */
export const LAST_EVENT = 'end';

/**
 * Streams the progress of a run as server-sent events: `queued` while it waits for a worker, `progress` when something
 * changed, then `end`, or `interrupted` if no worker will continue the run. Every event is read from the database. A stream therefore begins with the
 * current state, on any instance and after any reconnect.
 */
@Injectable()
export class RunStreams {
  private readonly reads = new SharedReads<Run | undefined>(EVERY_MS / 2);

  constructor(
    private readonly reader: RunReader,
    private readonly streams: EventStreams,
  ) {}

  of(first: Run, reply: FastifyReply): Readable {
    let run: Run | undefined = first;
    return this.streams.open(reply, EVERY_MS, async () => {
      // The database may be back in a moment.
      run ??= await this.reads.read(first.id, () => this.reader.one(first.id).catch(() => undefined));
      const news = { event: run && newsOf(run), isLast: run !== undefined && LAST_STATES.includes(stateOf(run)) };
      run = undefined;
      return news;
    });
  }
}

function newsOf(run: Run): string | undefined {
  const { end, progress } = run;
  if (end) {
    const { result, failure, totals } = end;
    return eventOf('end', { result, failure, totals }, LAST_EVENT);
  }
  const state = stateOf(run);
  if (state === 'queued') return eventOf('queued', { detail: 'This run waits for a worker.' });
  if (state === 'interrupted') {
    return eventOf('interrupted', { detail: 'No worker continued this run within a day. Start a new run.' });
  }
  return progress ? eventOf('progress', progress) : undefined;
}
