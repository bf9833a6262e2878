import { Inject, Injectable } from '@nestjs/common';
import { Client } from 'pg';
import { MayPay } from '../../../gateway/may-pay/may-pay.service';
import { readDoubts } from '../../../journal/settlement/false-rejections';
import { insertVerdicts, NewVerdict } from '../../../journal/settlement/settled-by-upstream';
import { PAYOUTS_AT_ONCE } from '../../../journal/settlement/settlements';
import { CHANGED_BY, CREATED_BY } from '../../../operations/items/effects';
import { quietPeriodsOf } from '../../../operations/lifecycle/rejections';
import { CLOCK_SKEW_SECONDS, DATED_BEFORE_MS } from '../../../operations/lifecycle/upstream-clock';
import { batchesOf } from '../../../platform/batches';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { overAfterMs } from '../../../platform/config/upstream/upstream-timeouts';
import { clock } from '../../../platform/database/clock';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { BookService } from '../../book/book.service';
import { connectForRun } from '../../book/connection';
import { ListingsService } from '../../sources/listings.service';
import { BY_ITSELF } from '../../sources/source-read';
import { SourcesService } from '../../sources/sources.service';
import { readSentCalls, Rules, SentCall, SentCallState } from '../calls-in-doubt';
import { readListing } from '../listing';
import { dependsOnWallets, factsOf, Listing, quietUntil, walletsCountFrom } from '../verdict/facts';
import { CallVerdict, PollRound } from '../verdict/poll-round';
import { findRelated, findUnclear } from '../verdict/related';
import { judge } from '../verdict/verdict';
import { readStatements, WalletStatements } from '../wallet-statements';
import { unrecognisable, ChangesService } from './changes.service';
import { ProbeService } from './probe.service';

/** Failure code of an account that UPSTREAM_ACCOUNTS does not name. Its calls stay in doubt. */
const UNKNOWN_ACCOUNT = 'account_not_configured';

/** Verdict about a call that the book settled as a whole. */
const LISTED = {
  reason: 'The upstream lists the transactions of this call.',
  evidence: { reads: [], transactions: [], calls: [] },
};

/** Result of one poll of the due calls. */
interface PollResult extends Pick<PollRound, 'left' | 'failed'> {
  readId: string | null;
  /** Failure code of the listing. Null if it was read. */
  failure: string | null;
  /** The newly recorded verdicts. */
  verdicts: NewVerdict[];
}

/** Polls the upstream's listing once, judges the calls in doubt by it, and records the verdicts. */
@Injectable()
export class PollService {
  readonly rules: Rules;

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    private readonly listings: ListingsService,
    private readonly probes: ProbeService,
    private readonly changes: ChangesService,
    private readonly book: BookService,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    this.rules = { ...quietPeriodsOf(this.settings), skewMs: CLOCK_SKEW_SECONDS * 1_000 };
  }

  /**
   * Polls an account.
   * @param due calls to judge.
   */
  async poll(account: string, due: SentCallState[], signal: AbortSignal): Promise<PollResult> {
    const hopeless = due.filter((call) => !isRecognisable(call));
    const verdicts = await this.record(
      hopeless.map((call) => ({ call, verdict: unrecognisable(call) })),
      signal,
    );
    const listed = due.filter(isRecognisable);
    const left = new Set<string>();
    const failed = new Set<string>();
    if (listed.length === 0) return { readId: null, failure: null, verdicts, left, failed };
    const all = new Set(listed.map(({ id }) => id));
    if (!this.sources.knows(account))
      return { readId: null, failure: UNKNOWN_ACCOUNT, verdicts, left, failed: all };
    await this.probe(account, listed);
    const since = new Date(
      listed.reduce((first, { sentFrom }) => Math.min(first, sentFrom.getTime()), Infinity),
    );
    const requestedAt = clock.now();
    const keptFrom = new Date(since.getTime() - DATED_BEFORE_MS);
    const listing = await this.listings.read(account, keptFrom, signal);
    const { readId, complete, failure, oldest } = listing;
    if (!complete) return { readId, failure, verdicts, left, failed: all };
    await this.probes.clear(account, readId);
    const read = { readId, requestedAt, oldest };
    const round = { account, due: listed, read, since, signal, left, failed };
    const db = await connectForRun(this.settings);
    try {
      verdicts.push(...(await this.judgeAll(db, round)));
      listing.remember();
    } finally {
      await db.end().catch(() => undefined);
    }
    return { readId, failure: null, verdicts, left, failed };
  }

  /** Sends a probe if a quiet period ended without a later call. It shows whether the listing is current. */
  private async probe(account: string, calls: SentCall[]): Promise<void> {
    const unproven = calls.filter(({ isRejected }) => !isRejected);
    const ends = unproven.map((call) =>
      CREATED_BY.get(call.operation)?.paidAtOnce
        ? walletsCountFrom(call, this.rules)
        : quietUntil(call, this.rules),
    );
    const over = ends.filter((end) => end <= clock.nowMs());
    if (over.length > 0) await this.probes.sendAfter(account, new Date(Math.max(...over)));
  }

  /** Enters the listing in the book, which settles what it shows, and judges the payouts that are left. */
  private async judgeAll(db: Client, round: PollRound): Promise<NewVerdict[]> {
    const { account, due, read, since, signal } = round;
    const quietAt = new Map(due.map((call) => [call.id, quietUntil(call, this.rules)]));
    const isQuiet = (id: string) => read.requestedAt.getTime() >= (quietAt.get(id) ?? Infinity);
    const reading = { account, readId: read.readId, source: 'poll', isQuiet } as const;
    const { settled } = await this.book.enterWith(db, reading, signal);
    const listing = await readListing(db, account, read, since, this.rules.skewMs);
    listing.wallets = await this.wallets(account, due, listing);
    const { written, open } = await this.reread(due, settled);
    written.push(...(await this.record(await this.changes.judge(round, listing, this.rules), signal)));
    const found = await this.judgeCreations(db, account, open, listing);
    for (const { call, verdict } of found) {
      // The call as a whole was carried out if the listing has one of its payouts.
      if (verdict.verdict === 'not_executed' && settled.has(call.id)) verdict.verdict = 'confirmed';
    }
    written.push(...(await this.record(found, signal)));
    return written;
  }

  /**
   * Reads the settled calls again.
   * @returns the calls that are settled as a whole, as verdicts, and the calls with payouts left in doubt.
   */
  private async reread(due: SentCallState[], settled: ReadonlySet<string>) {
    const created = due.filter(({ operation }) => CREATED_BY.has(operation));
    const ids = created.filter(({ id }) => settled.has(id)).map(({ id }) => id);
    const again = await readSentCalls(this.prisma, ids, overAfterMs(this.settings));
    const changed = new Map(again.map((call) => [call.id, call.settled]));
    const written: NewVerdict[] = [];
    const open: SentCall[] = [];
    const isDoubted = await readDoubts(this.prisma); // the listing may have shown a false rejection
    for (const call of created) {
      const positions = changed.get(call.id) ?? call.settled;
      const items = call.items.filter(({ position }) => !positions.has(position));
      const isRejected = call.isRejected && !isDoubted(call);
      if (items.length > 0) open.push({ ...call, items, isRejected });
      else written.push({ intentId: call.id, verdict: 'confirmed', ...LISTED });
    }
    return { written, open };
  }

  /** Reads the wallets, if they can replace a later payment of the same kind. */
  private async wallets(
    account: string,
    calls: SentCall[],
    listing: Listing,
  ): Promise<WalletStatements | undefined> {
    if (!calls.some((call) => dependsOnWallets(call, listing, this.rules))) return undefined;
    const { readId, complete } = await this.sources.wallets(account, BY_ITSELF);
    if (!complete) return undefined;
    return new WalletStatements(
      readId,
      await readStatements(this.prisma, readId),
      this.settings.payoutWallets,
    );
  }

  private async judgeCreations(
    db: Client,
    account: string,
    calls: SentCall[],
    listing: Listing,
  ): Promise<CallVerdict[]> {
    const unclear = await findUnclear(db, calls);
    const quiet = calls.filter((call) => listing.requestedAt.getTime() >= quietUntil(call, this.rules));
    const related = await findRelated(db, account, quiet);
    return calls.flatMap((call) => {
      const created = CREATED_BY.get(call.operation);
      if (!created) return [];
      const shown = { unclear: unclear.get(call.id) ?? [], related: related.get(call.id) ?? [] };
      const verdict = judge(factsOf(call, created, listing, shown, this.rules));
      return verdict ? [{ call, verdict }] : [];
    });
  }

  /**
   * Records verdicts.
   * @returns the verdicts that changed something.
   * @throws Problem if this worker was fenced while it read and judged.
   */
  private async record(found: CallVerdict[], signal: AbortSignal): Promise<NewVerdict[]> {
    const written: NewVerdict[] = [];
    for (const batch of batchesOf(found, PAYOUTS_AT_ONCE, ({ call }) => call.items.length)) {
      signal.throwIfAborted();
      this.mayPay.require('settle');
      const verdicts = batch.map(({ call, verdict }) => ({ ...verdict, intentId: call.id }));
      written.push(...(await insertVerdicts(this.prisma, verdicts, this.settings)));
    }
    return written;
  }
}

/** Returns whether the upstream's data can identify a call, which requires payouts in doubt. */
function isRecognisable({ operation, items }: SentCall): boolean {
  return items.length > 0 && (CREATED_BY.has(operation) || CHANGED_BY.has(operation));
}
