import { Inject, Injectable, Logger } from '@nestjs/common';
import { Client } from 'pg';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { IndexService } from '../../history/search/index.service';
import { ExpectedFees } from '../../journal/admission/expected-fees';
import { insertion } from '../../journal/records/document-sql';
import { PAYOUTS_AT_ONCE } from '../../journal/settlement/settlements';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { batchesOf } from '../../platform/batches';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { overAfterMs } from '../../platform/config/upstream/upstream-timeouts';
import { clock } from '../../platform/database/clock';
import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { isUniqueViolation } from '../../platform/database/pools/unique-violation';
import { attribute, Attribution } from './attribution';
import { findCandidates, readNews } from './candidates';
import { connectForRun } from './connection';
import { ContradictionsService } from './contradictions.service';
import { byCall, NewsByCall, NewsResult, settleByNews } from './news-settlement';
import { NewsContext, PayoutNews } from './payout-news';
import { settingsOf } from './plan';
import { IdObservation, ShownIds, ShownIdsByAccount } from './shown-ids';
import { enterReading } from './sightings';

const DAY_MS = 86_400_000;

/** Attempts if other settlements overtake this one. */
const ATTEMPTS = 3;

/** A reading to enter. */
export interface Reading extends Omit<NewsContext, 'vocabulary'> {
  account: string;
  readId: string;
}

/** Result of entering a reading. */
export interface EnteredReading {
  /** Number of transactions with a payout and news about it. */
  known: number;
  /** IDs of the settled calls. */
  settled: Set<string>;
}

/**
 * The book of the upstream's transactions. It settles the payouts whose transactions have news, and
 * attributes transactions without a payout. See docs/internals/attribution.md.
 */
@Injectable()
export class BookService {
  private readonly logger = new Logger('Book');
  private readonly vocabulary: StatusVocabulary;
  private readonly shownIds = new ShownIdsByAccount();

  constructor(
    private readonly prisma: PrismaService,
    private readonly index: IndexService,
    private readonly fees: ExpectedFees,
    private readonly contradictions: ContradictionsService,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    this.vocabulary = StatusVocabulary.with(this.settings.upstreamStatusWords);
  }

  /** Enters a reading with its own connection, which the signal ends at once, even during a query. */
  async enter(reading: Reading, signal: AbortSignal): Promise<EnteredReading> {
    const db = await connectForRun(this.settings);
    const close = () => void db.end().catch(() => undefined);
    signal.addEventListener('abort', close);
    try {
      signal.throwIfAborted();
      return await this.enterWith(db, reading, signal);
    } finally {
      signal.removeEventListener('abort', close);
      await db.end().catch(() => undefined);
    }
  }

  /** @throws the signal's reason if it is aborted. */
  async enterWith(db: Client, reading: Reading, signal: AbortSignal): Promise<EnteredReading> {
    await this.index.catchUp(); // It enters the answers.
    await enterReading(db, reading.account, reading.readId);
    this.mayPay.require('settle');
    await this.contradictions.handle(signal);
    const shownIds = this.shownIds.of(reading.account);
    await shownIds.add(reading.readId, async (statement) => (await db.query<IdObservation>(statement)).rows);
    const news = await readNews(db, reading.readId);
    const changed = await this.settleAll(news, reading, signal);
    const attributions = await this.attributions(db, reading.account, shownIds);
    const attributed = await this.settleAll(attributions, reading, signal);
    return { known: news.length, settled: new Set([...changed, ...attributed]) };
  }

  private async attributions(db: Client, account: string, shownIds: ShownIds): Promise<PayoutNews[]> {
    const { settings } = this;
    const since = new Date(clock.nowMs() - settings.followUpDays * DAY_MS);
    const calls = await findCandidates(db, account, since);
    if (calls.length === 0) return [];
    const usualSeconds = (overAfterMs(settings) + settings.resolverQuietSeconds * 1_000) / 1_000;
    const found = await attribute(db, {
      account,
      calls,
      since,
      settings: { ...settingsOf(settings), amountToleranceUsd: '0' },
      showsIdsOf: shownIds.operations,
      usualSeconds,
      longestSeconds: settings.followUpDays * (DAY_MS / 1_000),
    });
    await this.recordContradictions(found);
    return found.filter(({ contradiction }) => contradiction === null);
  }

  private async recordContradictions(found: Attribution[]): Promise<void> {
    const rows = found.flatMap(({ id, contradiction, callId, position }) =>
      contradiction === null
        ? []
        : [{ id: newId(), transaction_id: id, kind: contradiction, call_id: callId, position }],
    );
    if (rows.length === 0) return;
    await this.prisma.$executeRaw`${insertion('book_contradiction', rows)} ON CONFLICT DO NOTHING`;
  }

  /**
   * Settles payouts by news about their transactions.
   * @returns the IDs of the settled calls.
   * @throws Problem if this worker must not settle.
   */
  private async settleAll(news: PayoutNews[], reading: Reading, signal: AbortSignal): Promise<string[]> {
    const settled: string[] = [];
    for (const batch of batchesOf(byCall(news), PAYOUTS_AT_ONCE, ([, { length }]) => length)) {
      signal.throwIfAborted();
      settled.push(...(await this.settle(new Map(batch), reading)));
    }
    return settled;
  }

  private async settle(news: NewsByCall, reading: Reading, attempt = 1): Promise<string[]> {
    this.mayPay.require('settle'); // This worker may have been fenced while it read.
    const context = { ...reading, vocabulary: this.vocabulary };
    const { settled, overtaken } = await this.prisma
      .$transaction((tx) => settleByNews(tx, news, context, this.settings))
      .catch((error: unknown): NewsResult => {
        if (isUniqueViolation(error)) return { settled: [], overtaken: [...news.keys()] };
        throw error;
      });
    const ids = settled.map(({ id }) => id);
    for (const id of ids) {
      this.logger.log({ call_id: id, source: reading.source }, 'payouts settled by their transactions');
    }
    await this.fees.observe(settled);
    if (attempt === ATTEMPTS) return ids;
    // One by one, because the attribution of another process undoes the whole transaction.
    for (const callId of overtaken) {
      const again = new Map([[callId, news.get(callId) ?? []]]);
      ids.push(...(await this.settle(again, reading, attempt + 1)));
    }
    return ids;
  }
}
