import { Inject, Injectable, Logger } from '@nestjs/common';
import { Client } from 'pg';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { IndexService } from '../../history/search/index.service';
import { ChargedCall, ChargedFee, ExpectedFees } from '../../journal/admission/expected-fees';
import { settleWithin, SettledCall } from '../../journal/settlement/settlements';
import { readFeeRule } from '../../operations/items/fees';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { overAfterMs } from '../../platform/config/upstream/upstream-timeouts';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { attribute, Attribution } from './attribution';
import { findCandidates, readNews } from './candidates';
import { connectForRun } from './connection';
import { ContradictionsService } from './contradictions.service';
import { chargedBy, NewsContext, PayoutNews, settlementOf } from './payout-news';
import { settingsOf } from './plan';
import { IdObservation, ShownIds, ShownIdsByAccount } from './shown-ids';
import { enterReading } from './sightings';

const DAY_MS = 86_400_000;

/** Attempts if other settlements overtake this one. */
const ATTEMPTS = 3;

/** Code of Postgres for a payout or a transaction that another process attributed meanwhile. */
const UNIQUE_VIOLATION = '23505';

/** A reading to enter. */
export interface Reading extends Omit<NewsContext, 'vocabulary'> {
  account: string;
  readId: string;
}

/** A written settlement. */
interface Settled {
  call: ChargedCall;
  charged: ChargedFee[];
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

  /** Enters a reading with its own connection. */
  async enter(reading: Reading, signal: AbortSignal): Promise<EnteredReading> {
    const db = await connectForRun(this.settings);
    try {
      return await this.enterWith(db, reading, signal);
    } finally {
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
    const result: EnteredReading = { known: news.length, settled: new Set() };
    for (const [callId, some] of byCall(news)) {
      signal.throwIfAborted();
      if (await this.settle(callId, some, reading)) result.settled.add(callId);
    }
    for (const [callId, some] of byCall(await this.attributions(db, reading.account, shownIds))) {
      signal.throwIfAborted();
      if (await this.settle(callId, some, reading)) result.settled.add(callId);
    }
    return result;
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
    for (const { id, contradiction, callId, position } of found) {
      if (contradiction === null) continue;
      await this.prisma.$executeRaw`
        INSERT INTO book_contradiction (id, transaction_id, kind, call_id, position)
        VALUES (new_id(), ${id}::uuid, ${contradiction}, ${callId}::uuid,
          ${position}) ON CONFLICT DO NOTHING`;
    }
  }

  /**
   * Settles the payouts of a call by news about their transactions, and records the payout of each.
   * @returns whether a settlement was written.
   * @throws Problem if this worker must not settle.
   */
  private async settle(callId: string, news: PayoutNews[], reading: Reading): Promise<boolean> {
    this.mayPay.require('settle'); // This worker may have been fenced while it read.
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const settled = await this.prisma
        .$transaction((tx) => this.settleOnce(tx, callId, news, reading))
        .catch((error: unknown) => {
          if (isUniqueViolation(error)) return 'overtaken' as const;
          throw error;
        });
      if (settled === 'overtaken') continue;
      if (settled === undefined) return false;
      this.logger.log({ call_id: callId, source: reading.source }, 'payouts settled by their transactions');
      if (settled.charged.length > 0) await this.fees.observe(settled.call, settled.charged);
      return true;
    }
    return false;
  }

  private async settleOnce(
    tx: Prisma.TransactionClient,
    callId: string,
    news: PayoutNews[],
    reading: Reading,
  ): Promise<Settled | 'overtaken' | undefined> {
    const current = await currentNews(tx, callId, news);
    if (current.length === 0) return undefined;
    let applied: PayoutNews[] = [];
    let settled: Settled | undefined;
    const result = await settleWithin(tx, callId, this.settings, (call: SettledCall) => {
      const decided = settlementOf(call, current, { ...reading, vocabulary: this.vocabulary });
      ({ applied } = decided);
      if (decided.settlement)
        settled = { call: toCharged(callId, call), charged: chargedBy(decided.settlement.entries, call) };
      return decided.settlement;
    });
    if (result === 'overtaken') return result;
    for (const one of applied) await apply(tx, one, callId);
    return result === 'written' ? settled : undefined;
  }
}

/** Returns a call whose fees are observed. */
function toCharged(id: string, { intent }: SettledCall): ChargedCall {
  const { account = MAIN_ACCOUNT, operation, expected_fee: fee } = intent;
  return { id, account, operation, rule: (fee && readFeeRule(fee)) || null };
}

/**
 * Locks the transactions, and returns the news that is still current: about the payouts' own transactions,
 * and about transactions without a payout to payouts without a transaction.
 */
async function currentNews(
  tx: Prisma.TransactionClient,
  callId: string,
  news: PayoutNews[],
): Promise<PayoutNews[]> {
  const ids = news.map(({ id }) => id);
  const rows = await tx.$queryRaw<{ id: string; isOwn: boolean | null; taken: number[] }[]>`
    SELECT id::text, call_id = ${callId}::uuid AS "isOwn",
      ARRAY(SELECT position FROM book_transaction WHERE call_id = ${callId}::uuid) AS taken
    FROM book_transaction WHERE id = ANY (${ids}::uuid[]) ORDER BY id FOR UPDATE`;
  const known = new Map(rows.map((row) => [row.id, row]));
  return news.filter(({ id, ground, position }) => {
    const { isOwn, taken } = known.get(id) ?? { isOwn: false, taken: [] };
    return ground === null ? isOwn === true : isOwn === null && !taken.includes(position);
  });
}

/** Records news about a transaction, and its payout. */
async function apply(tx: Prisma.TransactionClient, news: PayoutNews, callId: string): Promise<void> {
  const { id, position, ground, readId, ordinal, status, fee, amount, transaction } = news;
  await tx.$executeRaw`
    UPDATE book_transaction SET status = book_status(${status}), fee_usd = ${fee}::numeric,
      amount_usd = coalesce(${amount}::numeric, amount_usd),
      issued_at = coalesce(${transaction.at}::timestamptz, issued_at),
      batch_ref = coalesce(book_name(${transaction.batch_ref}), batch_ref),
      read_id = ${readId}::uuid, ordinal = ${ordinal}::bigint, call_id = ${callId}::uuid,
      position = ${position}::integer, ground = coalesce(ground, ${ground}),
      attributed_at = coalesce(attributed_at, clock_timestamp())
    WHERE id = ${id}::uuid`;
}

function isUniqueViolation(error: unknown): boolean {
  return (
    error instanceof Prisma.PrismaClientKnownRequestError &&
    JSON.stringify(error.meta ?? {}).includes(UNIQUE_VIOLATION)
  );
}

function byCall(news: PayoutNews[]): Map<string, PayoutNews[]> {
  const calls = new Map<string, PayoutNews[]>();
  for (const one of news) calls.set(one.callId, [...(calls.get(one.callId) ?? []), one]);
  return calls;
}
