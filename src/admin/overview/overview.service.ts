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
import { Overview, DEFAULT_DAYS } from './overview.dto';
import { SectionsService } from './sections.service';

/** Minimum age of a section, in ms. */
const LEAST_MS = 2_000;

/** Assembles the sections within the scopes of a reader. Evaluates each section once for all readers. */
@Injectable()
export class OverviewService {
  private readonly inDoubt = cached(() => this.sections.inDoubt());
  private readonly queue = cached(() => this.sections.queue());
  private readonly seal = cached(() => this.sections.seal());
  private readonly findings = cached(() => this.sections.findings());
  private readonly lastRun = cached(() => this.sections.lastRun());
  private readonly wallets = cached(() => this.sections.wallets());
  private readonly approvals = cached(() => this.sections.approvals());
  private readonly clients = cached(() => this.sections.clients());
  private readonly stops = cached(() => this.sections.stops());
  private readonly doubted = cached(() => this.sections.doubtedOperations());

  constructor(
    private readonly sections: SectionsService,
    private readonly history: HistoryService,
    private readonly upstream: UpstreamService,
    private readonly storage: StorageService,
  ) {}

  /** @param scopes the scopes of the reader. */
  async read(scopes: ReadonlySet<Scope>, days = DEFAULT_DAYS): Promise<Overview> {
    let asOf = clock.now();
    const section = async <Value>(allowed: Scope[], source: { read(): Promise<CachedValue<Value>> }) => {
      if (!allowed.some((scope) => scopes.has(scope))) return null;
      const { value, at } = await source.read();
      if (at < asOf) asOf = at;
      return value;
    };
    const [history, in_doubt, queue, seal, findings, last_run, wallets, approvals, clients, stops] =
      await Promise.all([
        section(['audit'], { read: () => this.history.read(days) }),
        section(['audit'], this.inDoubt),
        section(['admin', 'audit'], this.queue),
        section(['audit'], this.seal),
        section(['reconcile'], this.findings),
        section(['reconcile'], this.lastRun),
        section(['reconcile', 'admin'], this.wallets),
        section(['approve'], this.approvals),
        section(['admin'], this.clients),
        section(['admin', 'approve', 'audit'], this.stops),
      ]);
    const upstream = this.upstream.all().map((account) => ({ account: account.name, ...healthOf(account) }));
    const sections = {
      history,
      in_doubt,
      queue,
      seal,
      findings,
      last_run,
      wallets,
      approvals,
      clients,
      stops,
    };
    const { value: doubted_operations } = await this.doubted.read();
    return { as_of: asOf, ...sections, doubted_operations, upstream, storage: this.storage.failures };
  }
}

function cached<Value>(evaluate: () => Promise<Value>): Cached<Value> {
  return new Cached(evaluate, () => LEAST_MS);
}

/** Minimum interval between updates. */
const CHECK_MS = 2_000;

/** Duration of a stream. The reader then sends its key again, which may have been revoked. */
const STREAM_MS = 300_000;

/** Maximum interval between events. After a longer silence, the connection or the proxy is down. */
const CONFIRM_MS = 10_000;

const UNAVAILABLE = eventOf('unavailable', {});

/** An overview for all readers with the same scopes. */
interface Snapshot {
  event: string;
  /** Text without its time. A new time alone is no change. */
  content: string;
  as_of: Date;
}

/**
 * Streams the overview as server-sent events: `overview` at once and after each change, `current` between
 * changes, and `unavailable` while it cannot be read. A reader always knows whether its data is current.
 */
@Injectable()
export class OverviewStreams {
  /** Snapshots shared by streams of equal scopes, because serializing costs more than reading. */
  private readonly snapshots = new SharedReads<Snapshot | undefined>(CHECK_MS / 2);

  constructor(
    private readonly overviews: OverviewService,
    private readonly streams: EventStreams,
  ) {}

  of(scopes: ReadonlySet<Scope>, days: number | undefined, reply: FastifyReply): Readable {
    const begun = performance.now();
    const isLast = () => performance.now() - begun > STREAM_MS;
    const shared = `${[...scopes].sort().join()} ${days ?? ''}`;
    let sentContent: string | undefined;
    let sentAt = 0;
    let event: string | undefined;
    return this.streams.open(reply, CHECK_MS, async () => {
      const now = await this.snapshots.read(shared, () => this.take(scopes, days));
      if (!now) event = UNAVAILABLE;
      else if (now.content !== sentContent || event === UNAVAILABLE) event = now.event;
      else if (performance.now() - sentAt >= CONFIRM_MS) event = eventOf('current', { as_of: now.as_of });
      else return { event, isLast: isLast() };
      sentContent = now?.content ?? sentContent;
      sentAt = performance.now();
      return { event, isLast: isLast() };
    });
  }

  /** @returns undefined while the overview cannot be read. */
  private async take(scopes: ReadonlySet<Scope>, days: number | undefined): Promise<Snapshot | undefined> {
    const overview = await this.overviews.read(scopes, days).catch(() => undefined);
    if (!overview) return undefined;
    return {
      event: eventOf('overview', overview),
      content: JSON.stringify({ ...overview, as_of: null }),
      as_of: overview.as_of,
    };
  }
}
