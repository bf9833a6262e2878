import { Injectable } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { Scope } from '../../operations/scopes';
import { eventOf, EventStreams } from '../../http/streams/event-streams.service';
import { OverviewService } from './overview.service';

/** As often as a section may change. */
const EVERY_MS = 2_000;

/** A reader connects again after this time and sends its key again, which may have been revoked. */
const LONGEST_MS = 300_000;

/** A reader without an event for much longer knows that the connection is dead or the proxy does not respond. */
const CONFIRM_MS = 10_000;

const UNAVAILABLE = eventOf('unavailable', {});

/**
 * Streams the overview as server-sent events: `overview` at once and after each change, `current` while nothing
 * changes, and `unavailable` while it cannot be read. A reader can always tell whether its data is current.
 */
@Injectable()
export class OverviewStreams {
  constructor(
    private readonly overviews: OverviewService,
    private readonly streams: EventStreams,
  ) {}

  of(scopes: ReadonlySet<Scope>, days: number | undefined, reply: FastifyReply): Readable {
    const begun = performance.now();
    const isLast = () => performance.now() - begun > LONGEST_MS;
    let told: string | undefined;
    let toldAt = 0;
    let event: string | undefined;
    return this.streams.open(reply, EVERY_MS, async () => {
      // The database may be back in a moment.
      const overview = await this.overviews.read(scopes, days).catch(() => undefined);
      const now = overview && JSON.stringify({ ...overview, as_of: null }); // A new time alone is no change.
      if (!overview) event = UNAVAILABLE;
      else if (now !== told || event === UNAVAILABLE) event = eventOf('overview', overview);
      else if (performance.now() - toldAt >= CONFIRM_MS) event = eventOf('current', { as_of: overview.as_of });
      else return { event, isLast: isLast() };
      told = now ?? told;
      toldAt = performance.now();
      return { event, isLast: isLast() };
    });
  }
}
