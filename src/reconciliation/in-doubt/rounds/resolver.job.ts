import { Injectable, Logger, Inject } from '@nestjs/common';
import { MayPay } from '../../../gateway/may-pay/may-pay.service';
import { TAGS, termOf } from '../../../journal/lookups/search-terms';
import {
  deleteTasks,
  ReadBack,
  readBacksAskedFor,
  answerRounds,
  roundsAskedFor,
} from '../../../journal/reconciliation/worker-tasks';
import { ofAccount } from '../../../journal/records/accounts';
import { grouped } from '../../../platform/batches';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { Job } from '../../../platform/jobs/job';
import { Turns } from '../../../platform/jobs/turns';
import { BookService } from '../../book/book.service';
import { ContradictionsService } from '../../book/contradictions.service';
import { SourcesService } from '../../sources/sources.service';
import { NOTHING, ResolverService } from './resolver.service';

/** Reads back the subjects of the upstream's events one by one, and settles their payouts. */
@Injectable()
export class ReadBackService {
  private readonly logger = new Logger('Events');

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    private readonly book: BookService,
    private readonly mayPay: MayPay,
  ) {}

  /**
   * Reads back all waiting events. Events of one batch arrive together and are read back together. An event
   * that arrives meanwhile may be newer than the answer, and keeps waiting. All wait while this process is
   * fenced.
   * @param onDoubt called for each subject that may belong to a call in doubt.
   */
  async run(signal: AbortSignal, onDoubt: () => void): Promise<void> {
    while (!this.mayPay.obstacleTo('settle')) {
      const waiting = await readBacksAskedFor(this.prisma);
      if (waiting.length === 0) return;
      for (const events of grouped(waiting.map((event) => [subjectOf(event), event])).values()) {
        if (signal.aborted) return;
        const isOfKnown = await this.readBack(events[0], signal).catch((err: unknown) => {
          this.logger.warn({ err, event: events[0]?.id }, 'event not read back');
          return true;
        });
        if (!isOfKnown) onDoubt();
        if (this.mayPay.obstacleTo('settle')) return; // they wait
        const ids = events.map(({ id }) => id);
        await deleteTasks(this.prisma, ids);
      }
    }
  }

  /** @returns whether a call of ours already names the transactions. They are then not in doubt. */
  private async readBack(event: ReadBack | undefined, signal: AbortSignal): Promise<boolean> {
    if (!event || !this.sources.knows(event.account)) return true;
    const { id, account, batchRef, upstreamId, upstreamRef } = event;
    const cause = { causedBy: id, by: null };
    const read =
      batchRef !== null
        ? await this.sources.batch(account, cause, batchRef)
        : upstreamId !== null
          ? await this.sources.transaction(account, cause, upstreamId)
          : null;
    if (read?.complete && !this.mayPay.obstacleTo('settle'))
      await this.book.enter({ account, readId: read.readId, source: 'event', isQuiet: () => false }, signal);
    const refs = [batchRef, upstreamId, upstreamRef].filter((ref) => ref !== null);
    const rows = await this.prisma.$queryRaw<unknown[]>`
      (SELECT 1 FROM unnest(${refs}::text[]) AS named(name)
      CROSS JOIN LATERAL transactions_named(${account}::text, named.name) AS b
      WHERE coalesce(b.call_id, b.answered_call) IS NOT NULL LIMIT 1)
      UNION ALL
      (SELECT 1 FROM indexed_call
      WHERE terms && ${refs.map((ref) => termOf(TAGS.ref, ref))}::text[]
        AND ${ofAccount('client_id', account)} LIMIT 1)`;
    return rows.length > 0;
  }
}

/** Returns the account and the transactions to look up. */
function subjectOf({ account, batchRef, upstreamId }: ReadBack): string {
  return `${account} ${batchRef ?? upstreamId}`;
}

/** Interval at which a worker looks for unannounced tasks, such as those of a killed worker. */
const LOOK_EVERY_MS = 5_000;

/** Delay after an event. Others of the same batch may follow. */
const SOON_MS = 1_000;

/** Minimum time between two rounds for events. Many events must not cause many listings. */
const HURRY_EVERY_MS = 10_000;

/** Resolves calls in doubt every RESOLVER_EVERY_SECONDS, soon after an upstream event, and on request. */
@Injectable()
export class ResolverJob implements Job {
  readonly name = 'resolve';
  private readonly logger = new Logger('Resolver');
  /** Due time of the next round, by the monotonic clock. Infinity if rounds only run on request. */
  private dueAt = 0;
  private hurriedAt = -Infinity;
  private isFailing = false;

  constructor(
    private readonly prisma: PrismaService,
    private readonly resolver: ResolverService,
    private readonly readBacks: ReadBackService,
    private readonly contradictions: ContradictionsService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async run(turns: Turns): Promise<void> {
    this.dueAt = this.everyMs > 0 ? 0 : Infinity;
    let readingBack: Promise<void> | undefined;
    while (!turns.areOver) {
      // In parallel with the rounds, because the upstream may answer slowly.
      readingBack ??= this.readBack(turns).finally(() => (readingBack = undefined));
      await this.answerRequests(turns.signal);
      await this.handleContradictions(turns.signal);
      if (performance.now() >= this.dueAt && !turns.areOver) {
        this.dueAt = Infinity; // An event that arrives during the round may be newer than its listing.
        await this.resolver.run(turns.signal);
        this.dueAt = Math.min(this.dueAt, performance.now() + this.everyMs);
      }
      await turns.wait(Math.min(LOOK_EVERY_MS, Math.max(0, this.dueAt - performance.now())));
    }
    await readingBack;
    this.resolver.rest();
  }

  private get everyMs(): number {
    return this.settings.resolverEverySeconds * 1_000;
  }

  private async handleContradictions(signal: AbortSignal): Promise<void> {
    await this.contradictions.handle(signal).catch((err: unknown) => {
      if (!signal.aborted) this.logger.warn({ err }, 'contradictions not handled, will retry');
    });
  }

  /** Answers all requests so far with one round. */
  private async answerRequests(signal: AbortSignal): Promise<void> {
    try {
      const asked = await roundsAskedFor(this.prisma);
      this.isFailing = false;
      if (asked.length === 0 || signal.aborted) return;
      const round = await this.resolver.runOnce(signal).catch((err: unknown) => {
        this.logger.warn({ err }, 'requested resolver round failed');
        return { ...NOTHING, in_doubt: 0, failure: 'round_failed' };
      });
      if (!signal.aborted) await answerRounds(this.prisma, asked, round); // else another worker answers
    } catch (err) {
      if (!this.isFailing && !signal.aborted) this.logger.warn({ err }, 'tasks cannot be read, will retry');
      this.isFailing = true;
    }
  }

  private async readBack(turns: Turns): Promise<void> {
    // tried again next turn
    await this.readBacks.run(turns.signal, () => this.pollSoon(turns)).catch(() => undefined);
  }

  /** Polls recent calls in doubt soon after an event, at most every ten seconds. */
  private pollSoon(turns: Turns): void {
    const now = performance.now();
    if (this.everyMs === 0 || now - this.hurriedAt < HURRY_EVERY_MS) return;
    this.hurriedAt = now;
    this.resolver.hurry();
    this.dueAt = Math.min(this.dueAt, now + SOON_MS);
    turns.wake();
  }
}
