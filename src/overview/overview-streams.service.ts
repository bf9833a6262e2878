import { Injectable } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { Scope } from '../clients/scopes';
import { eventOf, EventStreams } from '../streams/event-streams.service';
import { OverviewService } from './overview.service';

/** As often as a section may change. */
const EVERY_MS = 2_000;

/** Who is still there connects again, and shows the key again: it may have been revoked. */
const LONGEST_MS = 300_000;

/** Tells how things stand, as server-sent events: `overview` at once, and whenever something changed. */
@Injectable()
export class OverviewStreams {
  constructor(
    private readonly overviews: OverviewService,
    private readonly streams: EventStreams,
  ) {}

  of(scopes: ReadonlySet<Scope>, days: number | undefined, reply: FastifyReply): Readable {
    const begun = performance.now();
    let told: string | undefined;
    let event: string | undefined;
    return this.streams.open(reply, EVERY_MS, async () => {
      const overview = await this.overviews.read(scopes, days).catch(() => undefined); // the database may be back in a moment
      const now = overview && JSON.stringify({ ...overview, as_of: null }); // that it was looked again is no news
      if (overview && now !== told) event = eventOf('overview', overview);
      told = now ?? told;
      return { event, isLast: performance.now() - begun > LONGEST_MS };
    });
  }
}
