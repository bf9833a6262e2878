import { Inject, Injectable } from '@nestjs/common';
import { Client } from 'pg';
import { MayPay } from '../../../gateway/may-pay/may-pay.service';
import { insertVerdict, NewVerdict } from '../../../journal/settlement/settled-by-upstream';
import { CHANGED_BY, CREATED_BY } from '../../../operations/items/effects';
import { quietPeriodsOf } from '../../../operations/lifecycle/rejections';
import { StatusVocabulary } from '../../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { overAfterMs } from '../../../platform/config/upstream/upstream-timeouts';
import { clock } from '../../../platform/database/clock';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { connectForRun } from '../../matching/connection';
import { Cause } from '../../sources/source-read';
import { SourcesService } from '../../sources/sources.service';
import { Rules, SentCall, SentCallState } from '../calls-in-doubt';
import { READ_BEFORE_MS, readListing } from '../listing';
import { Listing } from '../verdict/batches';
import { CompetingCalls, readCompeting } from '../verdict/competing-calls';
import { dependsOnWallets, quietUntil, walletsCountFrom } from '../verdict/facts';
import { CallVerdict, judgeInTurn, PollRound } from '../verdict/poll-round';
import { readStatements, WalletStatements } from '../wallet-statements';
import { Effort } from '../work';
import { unrecognisable, ChangesService } from './changes.service';
import { ProbeService } from './probe.service';

/** Maximum error of the upstream's clock, in ms. */
const SKEW_MS = 60_000;

/** Tolerance for an upstream clock that is ahead, in ms. */
const AHEAD_MS = 24 * 3_600_000;

/** Maximum number of passes per round. Settling one call can identify the transactions of another. */
const MOST_PASSES = 4;

/** Failure code of an account that UPSTREAM_ACCOUNTS does not name. Its calls stay in doubt. */
const UNKNOWN_ACCOUNT = 'account_not_configured';

const BY_ITSELF: Cause = { causedBy: null, by: null };

/** Result of one poll of the due calls. */
interface PollResult {
  readId: string | null;
  /** Failure code of the listing. Null if it was read. */
  failure: string | null;
  /** The newly recorded verdicts. */
  verdicts: NewVerdict[];
  /** IDs of calls that did not fit into the round. */
  left: ReadonlySet<string>;
  /** IDs of calls whose lookup failed. */
  failed: ReadonlySet<string>;
}

/** Polls the upstream's listing once, judges the calls in doubt by it, and records the verdicts. */
@Injectable()
export class PollService {
  readonly rules: Rules;
  private readonly vocabulary: StatusVocabulary;

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    private readonly probes: ProbeService,
    private readonly changes: ChangesService,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    this.vocabulary = StatusVocabulary.with(this.settings.upstreamStatusWords);
    this.rules = { ...quietPeriodsOf(this.settings), skewMs: SKEW_MS };
  }

  /**
   * Polls an account.
   * @param due calls to judge. The last ones are left if the round has no room for all.
   */
  async poll(
    account: string,
    due: SentCallState[],
    inDoubt: string[],
    signal: AbortSignal,
    effort = new Effort(signal),
  ): Promise<PollResult> {
    const hopeless = due.filter((call) => !isRecognisable(call));
    const verdicts = await this.record(
      hopeless.map((call) => ({ call, verdict: unrecognisable(call) })),
      effort,
    );
    const listed = due.filter(isRecognisable);
    const none = new Set<string>();
    if (listed.length === 0) return { readId: null, failure: null, verdicts, left: none, failed: none };
    if (!this.sources.knows(account)) {
      return {
        readId: null,
        failure: UNKNOWN_ACCOUNT,
        verdicts,
        left: none,
        failed: new Set(listed.map(({ id }) => id)),
      };
    }
    await this.probe(account, listed);
    const since = new Date(
      listed.reduce((first, { sentFrom }) => Math.min(first, sentFrom.getTime()), Infinity),
    );
    const requestedAt = clock.now();
    const window = {
      from: new Date(since.getTime() - READ_BEFORE_MS),
      to: new Date(clock.nowMs() + AHEAD_MS),
    };
    const read = await this.sources.transactions(account, BY_ITSELF, window, { signal });
    const { readId, complete, failure, oldest } = read;
    if (!complete)
      return { readId, failure, verdicts, left: none, failed: new Set(listed.map(({ id }) => id)) };
    await this.probes.clear(account, readId);
    const round = new PollRound(account, listed, inDoubt, { readId, requestedAt, oldest }, since, effort);
    const db = await connectForRun(this.settings);
    try {
      verdicts.push(...(await this.judgeAll(db, round)));
    } finally {
      await db.end().catch(() => undefined);
    }
    return { readId, failure: null, verdicts, left: round.left, failed: round.failed };
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

  /** Judges in passes, because a settled call may leave less doubt about the others. */
  private async judgeAll(db: Client, round: PollRound): Promise<NewVerdict[]> {
    const { account, due, inDoubt, read, since, effort } = round;
    const written: NewVerdict[] = [];
    const settled = new Set<string>();
    let wallets: WalletStatements | undefined;
    for (let pass = 1; ; pass += 1) {
      const unsettled = inDoubt.filter((id) => !settled.has(id));
      const listing = await readListing(
        db,
        account,
        read,
        since,
        unsettled,
        this.rules.skewMs,
        this.vocabulary,
        effort,
      );
      if (pass === 1) {
        wallets = await this.wallets(account, due, listing);
        written.push(...(await this.record(await this.changes.judge(round, listing, this.rules), effort)));
      }
      listing.wallets = wallets;
      const open = due.filter(
        ({ id, operation }) => CREATED_BY.has(operation) && !settled.has(id) && !round.left.has(id),
      );
      const found = await this.creations(db, open, listing, round);
      const confirmed = found.filter(({ verdict }) => verdict.verdict === 'confirmed');
      const last = confirmed.length === 0 || pass === MOST_PASSES || effort.isSpent;
      written.push(...(await this.record(last ? found : confirmed, effort)));
      for (const { call } of confirmed) settled.add(call.id);
      if (last) return written;
    }
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

  private async creations(
    db: Client,
    calls: SentCall[],
    listing: Listing,
    round: PollRound,
  ): Promise<CallVerdict[]> {
    const competing = await this.competing(db, calls, listing, round);
    const { found, left } = await judgeInTurn(calls, listing, competing, this.rules, round.effort);
    for (const { id } of left) round.left.add(id);
    return found;
  }

  /** Reads competing calls for the calls with related transactions. The others need none. */
  private async competing(
    db: Client,
    calls: SentCall[],
    { unclaimed }: Listing,
    round: PollRound,
  ): Promise<CompetingCalls> {
    const ids = calls.filter((call) => unclaimed.isRelatedTo(call)).map(({ id }) => id);
    const longestMs = overAfterMs(this.settings);
    const reachMs =
      this.settings.approvalExpiresAfterSeconds * 1_000 + longestMs + this.rules.quietMs + 2 * SKEW_MS;
    const reach = {
      account: round.account,
      from: new Date(round.since.getTime() - reachMs),
      longestMs,
      rules: this.rules,
      signal: round.effort.signal,
    };
    const others = await readCompeting(db, this.prisma, ids, unclaimed, reach);
    return round.effort.all(CompetingCalls.of(others, this.rules));
  }

  /**
   * Records verdicts.
   * @returns the verdicts that changed something.
   * @throws Problem if this worker was fenced while it read and judged.
   */
  private async record(found: CallVerdict[], effort: Effort): Promise<NewVerdict[]> {
    const written: NewVerdict[] = [];
    for (const { call, verdict } of found) {
      effort.signal.throwIfAborted();
      this.mayPay.require('settle');
      const recorded = { ...verdict, intentId: call.id };
      if (await insertVerdict(this.prisma, recorded, this.settings)) written.push(recorded);
    }
    return written;
  }
}

/** Returns whether the upstream's data can identify a call, which requires payouts in doubt. */
function isRecognisable({ operation, items }: SentCall): boolean {
  return items.length > 0 && (CREATED_BY.has(operation) || CHANGED_BY.has(operation));
}
