import { Injectable } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { Scope } from '../../operations/scopes';
import { eventOf, EventStreams } from '../../http/streams/event-streams.service';
import { SharedReads } from '../../http/streams/shared-reads';
import { OverviewService } from './overview.service';

/** As often as a section may change. */
const EVERY_MS = 2_000;

/** A reader connects again after this time and sends its key again, which may have been revoked. */
const LONGEST_MS = 300_000;

/** A reader without an event for much longer knows that the connection is dead or the proxy does not respond. */
const CONFIRM_MS = 10_000;

const UNAVAILABLE = eventOf('unavailable', {});

/** An overview, as all of its readers get it. */
interface Snapshot {
  event: string;
  /** What it says, without its time. A new time alone is no change. */
  said: string;
  as_of: Date;
}

/**
 * Streams the overview as server-sent events: `overview` at once and after each change, `current` while nothing
 * changes, and `unavailable` while it cannot be read. A reader can always tell whether its data is current.
 */
@Injectable()
export class OverviewStreams {
  /** Writing an overview as text costs more than reading it, so the streams of equal scopes share it. */
  private readonly snapshots = new SharedReads<Snapshot | undefined>(EVERY_MS / 2);

  constructor(
    private readonly overviews: OverviewService,
    private readonly streams: EventStreams,
  ) {}

  of(scopes: ReadonlySet<Scope>, days: number | undefined, reply: FastifyReply): Readable {
    const begun = performance.now();
    const isLast = () => performance.now() - begun > LONGEST_MS;
    const shared = `${[...scopes].sort().join()} ${days ?? ''}`;
    let told: string | undefined;
    let toldAt = 0;
    let event: string | undefined;
    return this.streams.open(reply, EVERY_MS, async () => {
      const now = await this.snapshots.read(shared, () => this.take(scopes, days));
      if (!now) event = UNAVAILABLE;
      else if (now.said !== told || event === UNAVAILABLE) event = now.event;
      else if (performance.now() - toldAt >= CONFIRM_MS) event = eventOf('current', { as_of: now.as_of });
      else return { event, isLast: isLast() };
      told = now?.said ?? told;
      toldAt = performance.now();
      return { event, isLast: isLast() };
    });
  }

  /** @returns undefined if the overview cannot be read. The database may be back in a moment. */
  private async take(scopes: ReadonlySet<Scope>, days: number | undefined): Promise<Snapshot | undefined> {
    const overview = await this.overviews.read(scopes, days).catch(() => undefined);
    if (!overview) return undefined;
    return {
      event: eventOf('overview', overview),
      said: JSON.stringify({ ...overview, as_of: null }),
      as_of: overview.as_of,
    };
  }
}
