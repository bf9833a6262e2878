import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { UpstreamService } from '../../gateway/upstream/upstream.service';
import { eventOf, EventStreams } from '../../http/streams/event-streams.service';
import { SharedReads } from '../../http/streams/shared-reads';
import { Scope } from '../../operations/catalogue/scopes';
import { clock } from '../../platform/database/clock';
import { StorageService } from '../../platform/storage/storage.service';
import { healthOf } from '../accounts/accounts.dto';
import { Cached, CachedValue } from './cached';
import { HistoryService } from './history.service';
import { Overview, USUAL_DAYS } from './overview.dto';
import { SectionsService } from './sections.service';

/** Minimum age of a section before it is read again, in ms. */
const LEAST_MS = 2_000;

/** Assembles the sections allowed to a reader. Each section is evaluated once for all readers. */
@Injectable()
export class OverviewService {
  private readonly inDoubt = cached(() => this.sections.inDoubt());
  private readonly seal = cached(() => this.sections.seal());
  private readonly findings = cached(() => this.sections.findings());
  private readonly lastRun = cached(() => this.sections.lastRun());
  private readonly wallets = cached(() => this.sections.wallets());
  private readonly approvals = cached(() => this.sections.approvals());
  private readonly clients = cached(() => this.sections.clients());
  private readonly stops = cached(() => this.sections.stops());

  constructor(
    private readonly sections: SectionsService,
    private readonly history: HistoryService,
    private readonly upstream: UpstreamService,
    private readonly storage: StorageService,
  ) {}

  /** @param scopes the scopes of the reader. */
  async read(scopes: ReadonlySet<Scope>, days = USUAL_DAYS): Promise<Overview> {
    let asOf = clock.now();
    const section = async <Value>(allowed: Scope[], source: { read(): Promise<CachedValue<Value>> }) => {
      if (!allowed.some((scope) => scopes.has(scope))) return null;
      const { value, at } = await source.read();
      if (at < asOf) asOf = at;
      return value;
    };
    const [history, in_doubt, seal, findings, last_run, wallets, approvals, clients, stops] =
      await Promise.all([
        section(['audit'], { read: () => this.history.read(days) }),
        section(['audit'], this.inDoubt),
        section(['audit'], this.seal),
        section(['reconcile'], this.findings),
        section(['reconcile'], this.lastRun),
        section(['reconcile', 'admin'], this.wallets),
        section(['approve'], this.approvals),
        section(['admin'], this.clients),
        section(['admin', 'approve', 'audit'], this.stops),
      ]);
    const upstream = this.upstream.all().map((account) => ({ account: account.name, ...healthOf(account) }));
    const read = { history, in_doubt, seal, findings, last_run, wallets, approvals, clients, stops };
    return { as_of: asOf, ...read, upstream, storage: this.storage.troubles };
  }
}

function cached<Value>(evaluate: () => Promise<Value>): Cached<Value> {
  return new Cached(evaluate, () => LEAST_MS);
}

/** As often as a section may change. */
const EVERY_MS = 2_000;

/** A reader connects again after this time and sends its key again, which may have been revoked. */
const LONGEST_MS = 300_000;

/**
 * A reader without an event for much longer knows that the connection is dead or the proxy does not respond.
 */
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
 * Streams the overview as server-sent events: `overview` at once and after each change, `current` while
 * nothing changes, and `unavailable` while it cannot be read. A reader can always tell whether its data is
 * current.
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
