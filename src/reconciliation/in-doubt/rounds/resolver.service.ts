import { Inject, Injectable, Logger } from '@nestjs/common';
import { MayPay } from '../../../gateway/may-pay/may-pay.service';
import { PresentService } from '../../../history/records/records.service';
import { IndexService } from '../../../history/search/index.service';
import { ReconciliationMetrics } from '../../../http/metrics/reconciliation-metrics';
import { MAY_HAVE_INTENT, releaseRefused } from '../../../journal/outcomes/refusals';
import { NewVerdict } from '../../../journal/settlement/settled-by-upstream';
import { batchesOf } from '../../../platform/batches';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { overAfterMs } from '../../../platform/config/upstream/upstream-timeouts';
import { clock } from '../../../platform/database/clock';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { uuidFloor } from '../../../platform/database/uuid';
import { codeOrNameOf } from '../../../platform/errors/error-code';
import { FailureLog } from '../../../platform/jobs/failure-log';
import { findCallsInDoubt, readCallsInDoubt, SentCallState } from '../calls-in-doubt';
import { quietUntil, walletsCountFrom } from '../verdict/facts';
import { BackOff } from './back-off';
import { PollService } from './poll.service';
import { ResolverRound } from './rounds.dto';

/** Age after which a reservation counts towards no cap. */
const KEPT_MS = 32 * 86_400_000;

/** Refusals per transaction, which locks their clients. */
const AT_ONCE = 500;

/**
 * Releases the reservations of refused calls. A process that refuses a call because of the database may leave
 * an intent, and releases the reservation itself unless it dies first.
 */
@Injectable()
export class RefusedReservationsService {
  private readonly logger = new Logger('Resolver');
  /** Database transaction before which all refusals were processed. */
  private seenBefore = '0';

  constructor(
    private readonly prisma: PrismaService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /**
   * Processes the refusals since the last time, or all after a start.
   * @returns the number of released reservations.
   */
  async run(signal: AbortSignal): Promise<number> {
    const since = uuidFloor(new Date(clock.nowMs() - KEPT_MS));
    const [now] = await this.prisma.$queryRaw<{ horizon: string }[]>`
      SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon`;
    const refused = await this.prisma.$queryRaw<{ id: string; clientId: string }[]>`
      SELECT id::text, client_id::text AS "clientId" FROM refusal
      WHERE code = ANY (${[...MAY_HAVE_INTENT]}::text[]) AND tx >= ${this.seenBefore}::xid8
        AND id >= ${since}::uuid ORDER BY tx`;
    let released = 0;
    for (const batch of batchesOf(refused, AT_ONCE)) {
      signal.throwIfAborted();
      released += await releaseRefused(this.prisma, batch, this.settings);
    }
    this.seenBefore = now?.horizon ?? this.seenBefore;
    if (released > 0) this.logger.warn({ calls: released }, 'reservations of refused calls released');
    return released;
  }
}

/** Calls in doubt per round. The next rounds read the rest. */
const MOST_PER_ROUND = 10_000;

export const NOTHING: Omit<ResolverRound, 'in_doubt'> = { polled: 0, failure: null, reads: [], verdicts: [] };

/**
 * Determines the outcomes of calls in doubt. It never sends a payout again. One listing of an account's
 * transactions serves all of its calls that are due.
 */
@Injectable()
export class ResolverService {
  private readonly logger = new Logger('Resolver');
  private readonly backOff: BackOff;
  private working: Promise<unknown> = Promise.resolve();
  private readonly failures = new FailureLog(this.logger, 'resolver round');
  /** Sending times of the calls in doubt in the last round. Undefined without a round. */
  private since: number[] | undefined;

  constructor(
    private readonly prisma: PrismaService,
    private readonly present: PresentService,
    private readonly index: IndexService,
    private readonly polls: PollService,
    private readonly refused: RefusedReservationsService,
    private readonly metrics: ReconciliationMetrics,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    this.backOff = new BackOff(Math.max(1, this.settings.resolverEverySeconds) * 1_000);
    metrics.watchDoubts(() => this.since);
  }

  /** Makes recent calls in doubt due, because an event arrived. */
  hurry(): void {
    this.backOff.hurry(clock.nowMs());
  }

  /** Leaves the calls in doubt to another worker. */
  rest(): void {
    this.since = undefined;
  }

  /** Polls the calls in doubt that are due. A failure is logged. */
  async run(signal: AbortSignal): Promise<void> {
    await this.turn(signal, false).catch((error: unknown) => this.note(codeOrNameOf(error), signal));
  }

  /** Polls all calls in doubt now. */
  async runOnce(signal: AbortSignal = new AbortController().signal): Promise<ResolverRound> {
    return this.turn(signal, true);
  }

  /** Runs rounds one after the other. */
  private turn(signal: AbortSignal, all: boolean): Promise<ResolverRound> {
    const turn = this.working
      .then(() => this.round(signal, all))
      .catch((error: unknown) => {
        this.since = undefined; // Their number is unknown now.
        throw error;
      });
    this.working = turn.catch(() => undefined);
    return turn;
  }

  /** @param all also polls calls that are not due yet. */
  private async round(signal: AbortSignal, all: boolean): Promise<ResolverRound> {
    if (signal.aborted) return { ...NOTHING, in_doubt: 0 };
    const obstacle = this.mayPay.obstacleTo('settle');
    if (obstacle) return this.restWhile(obstacle.kind, signal);
    await this.refused.run(signal);
    const { due, inDoubt } = await this.read(all);
    if (due.length === 0) return { ...NOTHING, in_doubt: inDoubt };
    // In parallel: a slow account must not delay the others.
    const rounds = await Promise.all(
      [...new Set(due.map(({ account }) => account))].map((account) => this.poll(account, due, signal)),
    );
    const failed = rounds.filter(({ read }) => read.failure !== null);
    this.note(
      failed.map(({ read: { account, failure } }) => `${account}: ${failure}`).join(', ') || null,
      signal,
    );
    return {
      in_doubt: inDoubt,
      polled: rounds.reduce((sum, { polled }) => sum + polled, 0),
      failure: failed[0]?.read.failure ?? null,
      reads: rounds.map(({ read }) => read),
      verdicts: rounds.flatMap(({ verdicts }) => verdicts),
    };
  }

  private async poll(account: string, allDue: SentCallState[], signal: AbortSignal) {
    const due = allDue.filter((call) => call.account === account);
    const { left, failed, readId, failure, verdicts } = await this.polls.poll(account, due, signal);
    const done = due.filter(({ id }) => !left.has(id));
    this.remember(done, failed, verdicts);
    return {
      read: { account, read_id: readId, failure },
      polled: done.length,
      verdicts: verdicts.map(({ intentId, verdict, reason }) => ({ call_id: intentId, verdict, reason })),
    };
  }

  /** Skips the round. A process that must not pay must not judge either. Another worker may take the job. */
  private restWhile(failure: string, signal: AbortSignal): ResolverRound {
    this.since = undefined;
    this.note(failure, signal);
    return { ...NOTHING, in_doubt: 0, failure };
  }

  /**
   * Reads the calls to poll now. Of waiting calls, which can be thousands each round, it reads only the IDs.
   */
  private async read(all: boolean): Promise<{ due: SentCallState[]; inDoubt: number }> {
    await this.index.catchUp();
    const present = await this.present.read(); // after the update of the index
    const ids = await findCallsInDoubt(this.prisma);
    this.backOff.keepOnly(new Set(ids));
    const now = clock.nowMs();
    const some = ids.filter((id) => all || this.backOff.isDue(id, now));
    const reading = this.backOff.inTurn(some).slice(0, MOST_PER_ROUND);
    const due = await readCallsInDoubt(this.prisma, reading, present, overAfterMs(this.settings));
    const read = new Set(reading);
    const waiting = ids.flatMap((id) => (read.has(id) ? [] : (this.backOff.sentAt(id) ?? [])));
    this.since = [...due.map(({ sentFrom }) => sentFrom.getTime()), ...waiting];
    return { due, inDoubt: this.since.length };
  }

  private remember(due: SentCallState[], failed: ReadonlySet<string>, verdicts: NewVerdict[]): void {
    const { rules } = this.polls;
    for (const call of due) {
      const now = clock.nowMs();
      const quietAt = quietUntil(call, rules);
      const dueAt = quietAt > now ? quietAt : walletsCountFrom(call, rules);
      this.backOff.polled(call.id, call.sentFrom, now, dueAt, failed.has(call.id));
    }
    for (const { intentId, verdict } of verdicts) {
      this.metrics.verdicts.inc({ verdict });
      this.logger.log({ call_id: intentId, verdict }, 'verdict on a call in doubt recorded');
    }
  }

  private note(failure: string | null, signal: AbortSignal): void {
    if (!signal.aborted) this.failures.note(failure);
  }
}
