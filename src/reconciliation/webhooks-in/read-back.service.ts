import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { PrismaService } from '../../platform/database/prisma.service';
import { TAGS, termOf } from '../../journal/terms';
import { NewUpstreamEvent } from '../../journal/records';
import { ResolverService } from '../in-doubt/resolver.service';
import { SourcesService } from '../sources/sources.service';

/** The most waiting hints. Nothing depends on them, because the next run and the resolver read everything. */
const MOST_WAITING = 1_000;

/** Asks the upstream about the subjects of its events, one after the other, and keeps the answers as evidence. */
@Injectable()
export class ReadBackService implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Events');
  /** By subject, with the first event about it. Events of the same batch arrive together. */
  private readonly waiting = new Map<string, NewUpstreamEvent>();
  private working: Promise<void> | undefined;
  private stopped = false;
  private isShedding = false;

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    private readonly resolver: ResolverService,
  ) {}

  /** Queues the event and returns at once. */
  add(event: NewUpstreamEvent): void {
    const subject = event.batchRef ?? event.upstreamId;
    if (subject === null || this.stopped || this.waiting.has(subject)) return;
    if (this.waiting.size >= MOST_WAITING) return this.shed();
    this.waiting.set(subject, event);
    this.working ??= this.work().finally(() => (this.working = undefined));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.working;
  }

  private async work(): Promise<void> {
    for (let next = this.next(); next && !this.stopped; next = this.next()) {
      try {
        await this.readBack(next);
      } catch (err) {
        this.logger.warn({ err, event: next.id }, 'event not read back');
      }
    }
    this.isShedding = false;
  }

  /** Removed before it is asked about, because an event that arrives meanwhile may be newer. */
  private next(): NewUpstreamEvent | undefined {
    const [first] = this.waiting;
    if (first) this.waiting.delete(first[0]);
    return first?.[1];
  }

  private async readBack({ id, batchRef, upstreamId, upstreamRef }: NewUpstreamEvent): Promise<void> {
    const cause = { causedBy: id, by: null };
    if (batchRef !== null) await this.sources.batch(cause, batchRef);
    else if (upstreamId !== null) await this.sources.transaction(cause, upstreamId);
    // Transactions that an answer named before are not in doubt.
    const refs = [batchRef, upstreamId, upstreamRef].filter((ref) => ref !== null);
    if (!(await this.isKnown(refs))) this.resolver.pollSoon();
  }

  private async isKnown(refs: string[]): Promise<boolean> {
    const rows = await this.prisma.$queryRaw<unknown[]>`
      SELECT 1 FROM indexed_call WHERE terms && ${refs.map((ref) => termOf(TAGS.ref, ref))}::text[] LIMIT 1`;
    return rows.length > 0;
  }

  private shed(): void {
    if (!this.isShedding) this.logger.warn('too many events to read back, excess events are only recorded');
    this.isShedding = true;
  }
}
