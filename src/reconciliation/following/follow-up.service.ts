import { hash } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { Transaction } from '../../gateway/upstream/answers/transactions';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { MAIN_ACCOUNT, accountNames } from '../../platform/config/upstream/upstream-accounts';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { codeOrNameOf } from '../../platform/errors/error-code';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { BookService } from '../book/book.service';
import { SourcesService } from '../sources/sources.service';
import { DeletedLinksService } from './deleted-links.service';

/** Cache size, at about 60 bytes per entry. Evicted transactions are processed again. */
const MAX_CACHED = 2_000_000;

/**
 * Cache of each transaction's last content. It lets a poll skip unchanged transactions, because the upstream
 * always lists all of them. A restart or a recovery of the database empties it, which makes one poll longer.
 */
class ContentCache {
  private readonly contents = new Map<number, number>();

  /** Returns whether a transaction is unchanged. False for a transaction without a name. */
  has(transaction: Transaction): boolean {
    const name = nameOf(transaction);
    return name !== undefined && this.contents.get(name) === contentOf(transaction);
  }

  add(transaction: Transaction): void {
    const name = nameOf(transaction);
    if (name === undefined) return;
    this.contents.delete(name); // Moves it to the end.
    this.contents.set(name, contentOf(transaction));
    if (this.contents.size <= MAX_CACHED) return;
    for (const oldest of this.contents.keys()) {
      this.contents.delete(oldest);
      return;
    }
  }
}

function nameOf({ upstreamRef, upstreamId }: Transaction): number | undefined {
  const name = upstreamRef ?? upstreamId;
  return name === null ? undefined : numberOf(name);
}

function contentOf({ status, feeUsd, amountUsd }: Transaction): number {
  return numberOf(JSON.stringify([status, feeUsd, amountUsd]));
}

/**
 * Returns 48 bits of a hash. Among a million names, the probability of a collision is 1 in 560. A collision
 * skips one transaction while the other is unchanged.
 */
function numberOf(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}

const DAY_MS = 86_400_000;

/** Tolerance for an upstream clock that is ahead, in ms. */
const AHEAD_MS = DAY_MS;

/** Transactions per poll. The next poll processes the rest. */
const MOST_PER_POLL = 50_000;

/** The result of one poll. */
interface FollowUpPoll {
  /** Null if nothing was read. */
  readId: string | null;
  /** Failure code of the listing. Null if it was read. */
  failure: string | null;
  /** Number of new or changed transactions. */
  changed: number;
  /** Number of those that belong to our payouts. */
  known: number;
  /** Number of settled calls. */
  settled: number;
}

/**
 * Follows payouts for FOLLOW_UP_DAYS: pending ones to their end, and all others for as long as they may fail,
 * be reversed, refunded or redeemed, or expire. One listing serves all payouts of an account.
 */
@Injectable()
export class FollowUpService {
  private readonly caches = new Map<string, ContentCache>();
  /** Epoch of the database that the cache belongs to. */
  private epoch: number | undefined;

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    private readonly book: BookService,
    private readonly deletedLinks: DeletedLinksService,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async runOnce(
    account = MAIN_ACCOUNT,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<FollowUpPoll> {
    const obstacle = this.mayPay.obstacleTo('settle');
    if (obstacle) return { readId: null, failure: obstacle.kind, changed: 0, known: 0, settled: 0 };
    await this.clearAfterRecovery();
    const cache = this.caches.get(account) ?? new ContentCache();
    this.caches.set(account, cache);
    const now = clock.nowMs();
    const window = {
      from: new Date(now - this.settings.followUpDays * DAY_MS),
      to: new Date(now + AHEAD_MS),
    };
    const changed: Transaction[] = [];
    const isNews = (transaction: Transaction) => {
      if (changed.length >= MOST_PER_POLL || cache.has(transaction)) return false;
      changed.push(transaction);
      return true;
    };
    const { readId, complete, failure } = await this.sources.changes(account, window, isNews, signal);
    const result = { readId, failure, changed: changed.length, known: 0, settled: 0 };
    if (!complete) return result; // The next poll processes the listed part again.
    this.mayPay.require('settle'); // again, because reading takes long
    // The resolver judges calls in doubt.
    const reading = { account, readId, source: 'poll', isQuiet: () => false } as const;
    const { known, settled } = await this.book.enter(reading, signal);
    for (const transaction of changed) cache.add(transaction);
    const deleted = await this.deletedLinks.run(account, window.from, signal);
    return { ...result, known, settled: settled.size + deleted };
  }

  /** Empties the cache after a recovery: an older database lacks the settlements of cached transactions. */
  private async clearAfterRecovery(): Promise<void> {
    const [row] = await this.prisma.$queryRaw<[{ epoch: number }]>`SELECT max(number) AS epoch FROM epoch`;
    if (row.epoch !== this.epoch) this.caches.clear();
    this.epoch = row.epoch;
  }
}

/** Interval at which a disabled job checks whether to end, in ms. */
const REST_MS = 60_000;

/** Follows payouts every FOLLOW_UP_EVERY_SECONDS, by one listing of each upstream account. */
@Injectable()
export class FollowUpJob implements Job {
  readonly name = 'follow';
  private readonly logger = new Logger('FollowUp');
  /** Last failure of each failing account. */
  private readonly complaints = new Map<string, string>();

  constructor(
    private readonly followUp: FollowUpService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async run(turns: Turns): Promise<void> {
    const everyMs = this.settings.followUpEverySeconds * 1_000;
    for (;;) {
      await turns.wait(everyMs || REST_MS);
      if (turns.areOver) return;
      const accounts = everyMs > 0 ? accountNames(this.settings) : [];
      // In parallel: a slow account must not delay the others.
      await Promise.all(accounts.map((account) => this.poll(account, turns.signal)));
    }
  }

  private async poll(account: string, signal: AbortSignal): Promise<void> {
    const failure = await this.followUp.runOnce(account, signal).then((poll) => poll.failure, codeOrNameOf);
    if (failure === (this.complaints.get(account) ?? null) || signal.aborted) return;
    if (failure === null) {
      this.complaints.delete(account);
      this.logger.log({ account }, 'follow-up succeeded after failures');
    } else {
      this.complaints.set(account, failure);
      this.logger.warn({ account, failure }, 'follow-up failed, will retry');
    }
  }
}
