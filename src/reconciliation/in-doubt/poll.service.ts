import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Client } from 'pg';
import { clock } from '../../platform/database/clock';
import { RunningConfig } from '../../platform/config/config';
import { Loaded } from '../../platform/config/config.module';
import { overAfterMs } from '../../platform/config/upstream-timeouts';
import { PrismaService } from '../../platform/database/prisma.service';
import { insertVerdict, NewVerdict } from '../../journal/resolver-verdicts';
import { connectForRun } from '../matching/connection';
import { Cause, SourcesService } from '../sources/sources.service';
import { judgeChange, unrecognisable } from './changed';
import { Competing } from './competing';
import { readCompeting } from './competing-calls';
import { Lookup, Rules, SentCall, Verdict } from './calls-in-doubt';
import { Listing } from './batches';
import { Resolved, judgeInTurn } from './judging';
import { dependsOnWallets, quietUntil, walletsCountFrom } from './facts';
import { READ_BEFORE_MS, readListing, readOne } from './listing';
import { CHANGED_BY, CREATED_BY } from '../../operations/effects';
import { StatusVocabulary } from '../../operations/statuses';
import { readNamed } from './named';
import { ProbeService } from './probe.service';
import { SentCallState } from './read-calls';
import { readStatements, WalletStatements } from './wallet-statements';
import { MAIN_ACCOUNT } from '../../platform/config/upstream-accounts';
import { Effort } from './work';

/** The most that the upstream's clock may be wrong. */
const SKEW_MS = 60_000;

/** Transactions up to this far in the future are kept, as the upstream's clock may be ahead. */
const AHEAD_MS = 24 * 3_600_000;

/** The most passes of a round. Settling one call may show whose the transactions of another are. */
const MOST_PASSES = 4;

/** The most transactions that are requested one by one in a round. */
const MOST_LOOKUPS = 200;

/** The failure of a reading that the upstream refused. For a single transaction, it means that there is none. */
const REFUSED = 'rejected';
const SAYS_NOT_FOUND: readonly (number | null)[] = [200, 404];

const BY_ITSELF: Cause = { causedBy: null, by: null };

/** The result of one poll of the calls that were due. */
interface Polled {
  readId: string | null;
  /** Why the listing could not be read, as a short code. Null if it was read. */
  failure: string | null;
  /** The newly recorded verdicts. */
  verdicts: NewVerdict[];
  /** The IDs of calls that were not judged, because one round had no room for them. */
  left: ReadonlySet<string>;
  /** The IDs of calls about which the upstream could not be asked. */
  failed: ReadonlySet<string>;
}

/**
 * Polls the upstream's listing once, judges the calls in doubt by it, and records the verdicts. It only reads from the
 * upstream.
 */
@Injectable()
export class PollService {
  readonly rules: Rules;
  private readonly settings: RunningConfig;
  private readonly vocabulary: StatusVocabulary;

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    private readonly probes: ProbeService,
    config: ConfigService<Loaded, true>,
  ) {
    this.settings = config.get('settings', { infer: true });
    this.vocabulary = StatusVocabulary.with(this.settings.upstreamStatusWords);
    this.rules = {
      quietMs: this.settings.resolverQuietSeconds * 1_000,
      rejectedQuietMs: this.settings.resolverRejectedQuietSeconds * 1_000,
      skewMs: SKEW_MS,
    };
  }

  /**
   * Polls the upstream.
   * @param due the calls to judge. If one round has no room for all, the last ones are left.
   */
  async poll(
    due: SentCallState[],
    inDoubt: string[],
    signal: AbortSignal,
    effort = new Effort(signal),
  ): Promise<Polled> {
    const hopeless = due.filter((call) => !isRecognisable(call));
    const verdicts = await this.record(
      hopeless.map((call) => ({ call, verdict: unrecognisable(call) })),
      effort,
    );
    const listed = due.filter(isRecognisable);
    const none = new Set<string>();
    if (listed.length === 0) return { readId: null, failure: null, verdicts, left: none, failed: none };
    await this.probe(listed);
    const since = new Date(listed.reduce((first, { sentFrom }) => Math.min(first, sentFrom.getTime()), Infinity));
    const askedAt = clock.now();
    const window = { from: new Date(since.getTime() - READ_BEFORE_MS), to: new Date(clock.nowMs() + AHEAD_MS) };
    const { readId, complete, failure, oldest } = await this.sources.transactions(MAIN_ACCOUNT, BY_ITSELF, window, {
      signal,
    });
    if (!complete) return { readId, failure, verdicts, left: none, failed: new Set(listed.map(({ id }) => id)) };
    await this.probes.clear(readId);
    const round = new Round(listed, inDoubt, { readId, askedAt, oldest }, since, effort);
    const db = await connectForRun(this.settings);
    try {
      verdicts.push(...(await this.judgeAll(db, round)));
    } finally {
      await db.end().catch(() => undefined);
    }
    return { readId, failure: null, verdicts, left: round.left, failed: round.failed };
  }

  /** Lets the listing show that it is current, if a quiet period has ended, and no app has sent a call since. */
  private async probe(calls: SentCall[]): Promise<void> {
    const ends = calls.map((call) =>
      CREATED_BY.get(call.operation)?.paidAtOnce ? walletsCountFrom(call, this.rules) : quietUntil(call, this.rules),
    );
    const over = ends.filter((end) => end <= clock.nowMs());
    if (over.length > 0) await this.probes.sendAfter(new Date(Math.max(...over)));
  }

  /** Judges in passes, because a settled call may leave less doubt about the others. */
  private async judgeAll(db: Client, round: Round): Promise<NewVerdict[]> {
    const { due, inDoubt, read, since, effort } = round;
    const written: NewVerdict[] = [];
    const settled = new Set<string>();
    let wallets: WalletStatements | undefined;
    for (let pass = 1; ; pass += 1) {
      const unsettled = inDoubt.filter((id) => !settled.has(id));
      const listing = await readListing(db, read, since, unsettled, this.rules.skewMs, this.vocabulary, effort);
      if (pass === 1) {
        wallets = await this.wallets(due, listing);
        written.push(...(await this.record(await this.changes(round, listing), effort)));
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
  private async wallets(calls: SentCall[], listing: Listing): Promise<WalletStatements | undefined> {
    if (!calls.some((call) => dependsOnWallets(call, listing, this.rules))) return undefined;
    const { readId, complete } = await this.sources.wallets(MAIN_ACCOUNT, BY_ITSELF);
    if (!complete) return undefined;
    return new WalletStatements(readId, await readStatements(this.prisma, readId), this.settings.payoutWallets);
  }

  private async creations(db: Client, calls: SentCall[], listing: Listing, round: Round): Promise<Resolved[]> {
    const competing = await this.competing(db, calls, listing, round);
    const { found, left } = await judgeInTurn(calls, listing, competing, this.rules, round.effort);
    for (const { id } of left) round.left.add(id);
    return found;
  }

  /** Reads competing calls only for calls that have related transactions. For others, they make no difference. */
  private async competing(db: Client, calls: SentCall[], { unclaimed }: Listing, round: Round): Promise<Competing> {
    const ids = calls.filter((call) => unclaimed.isRelatedTo(call)).map(({ id }) => id);
    const longestMs = overAfterMs(this.settings);
    const reachMs = this.settings.approvalExpiresAfterSeconds * 1_000 + longestMs + this.rules.quietMs + 2 * SKEW_MS;
    const reach = {
      from: new Date(round.since.getTime() - reachMs),
      longestMs,
      rules: this.rules,
      signal: round.effort.signal,
    };
    const others = await readCompeting(db, this.prisma, ids, unclaimed, reach);
    return round.effort.all(Competing.of(others, this.rules));
  }

  private async changes(round: Round, listing: Listing): Promise<Resolved[]> {
    const { due, left } = round;
    const found: Resolved[] = [];
    const changing = due.filter(({ operation }) => CHANGED_BY.has(operation));
    for (const { id } of changing.slice(MOST_LOOKUPS)) left.add(id);
    for (const call of changing.slice(0, MOST_LOOKUPS)) {
      const verdict = await this.judgeChange(call, listing, round);
      if (verdict) found.push({ call, verdict });
    }
    return found;
  }

  private async judgeChange(call: SentCall, listing: Listing, { failed }: Round): Promise<Verdict | undefined> {
    const upstreamRef = call.items[0]?.upstreamRef ?? null;
    const named = upstreamRef === null ? null : await readNamed(this.prisma, call.id, upstreamRef);
    if (!named || named.upstreamId === null) return judgeChange(call, undefined, listing, [], this.rules);
    const askedAt = clock.now();
    const cause = { ...BY_ITSELF, causedBy: call.id };
    const { readId, complete, failure, httpStatus } = await this.sources.transaction(
      MAIN_ACCOUNT,
      cause,
      named.upstreamId,
    );
    const isGone = failure === REFUSED && SAYS_NOT_FOUND.includes(httpStatus);
    const isRead = complete || isGone;
    const seen = isGone ? null : isRead ? await readOne(this.prisma, readId, this.vocabulary) : undefined;
    if (seen === undefined) return void failed.add(call.id); // It is asked again soon.
    const lookup: Lookup = { readId, askedAt, seen, madeBy: named.madeBy };
    return judgeChange(call, lookup, listing, named.others, this.rules);
  }

  /**
   * Records verdicts.
   * @returns those that changed something.
   */
  private async record(found: Resolved[], effort: Effort): Promise<NewVerdict[]> {
    const written: NewVerdict[] = [];
    for (const { call, verdict } of found) {
      effort.signal.throwIfAborted();
      const one = { ...verdict, intentId: call.id };
      if (await insertVerdict(this.prisma, one, this.settings)) written.push(one);
    }
    return written;
  }
}

/** The input of one round. */
class Round {
  readonly left = new Set<string>();
  readonly failed = new Set<string>();

  constructor(
    readonly due: SentCall[],
    /** The ids of all calls in doubt. */
    readonly inDoubt: string[],
    readonly read: Pick<Listing, 'readId' | 'askedAt' | 'oldest'>,
    /** When the oldest call that is due was sent. */
    readonly since: Date,
    readonly effort: Effort,
  ) {}
}

/** A call without payouts in doubt cannot be compared with anything. */
function isRecognisable({ operation, items }: SentCall): boolean {
  return items.length > 0 && (CREATED_BY.has(operation) || CHANGED_BY.has(operation));
}
