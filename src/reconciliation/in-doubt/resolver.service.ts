import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { IndexService } from '../../history/search/index.service';
import { PresentService } from '../../history/records/present.service';
import { RunningConfig } from '../../platform/config/config';
import { Loaded } from '../../platform/config/config.module';
import { overAfterMs } from '../../platform/config/upstream-timeouts';
import { PrismaService } from '../../platform/database/prisma.service';
import { SessionLock } from '../../platform/database/session-lock';
import { NewVerdict } from '../../journal/records';
import { ReconciliationMetrics } from '../../http/metrics/reconciliation-metrics';
import { BackOff } from './back-off';
import { PollService } from './poll.service';
import { findCallsInDoubt, readCallsInDoubt, SentCallState } from './read-calls';
import { quietUntil } from './verdict';

/** Any number that nothing else in the database locks: one instance looks at a time. */
const RESOLVER_LOCK = 7_070_011;

/** An event says that something happened: others of the same batch may be on their way. */
const SOON_MS = 1_000;

/** More calls in doubt are not read in one round. The others have their turn in the next ones. */
const MOST_PER_ROUND = 10_000;

/** Whoever sends many events must not make us ask for all transactions each time. */
const HURRY_EVERY_MS = 10_000;

/** What one round did. */
export interface Round {
  /** Another instance was at it. */
  elsewhere: boolean;
  inDoubt: number;
  /** How many of them were polled. */
  polled: number;
  readId: string | null;
  /** Why the upstream's listing could not be had, a short code; null: it could, or was not needed. */
  failure: string | null;
  verdicts: NewVerdict[];
}

const NOTHING: Omit<Round, 'inDoubt'> = { elsewhere: false, polled: 0, readId: null, failure: null, verdicts: [] };

/**
 * Finds out, in the background, what became of calls in doubt. It never sends anything again. One listing of the upstream's
 * transactions serves all calls that are due.
 */
@Injectable()
export class ResolverService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Resolver');
  private readonly settings: RunningConfig;
  private readonly backOff: BackOff;
  private readonly stopped = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private hinted = false;
  private hurriedAt = 0;
  private working: Promise<unknown> = Promise.resolve();
  /** What was last complained of; undefined: all is well. */
  private complaint: string | undefined;
  /** When each call in doubt was sent, as of the last round. */
  private since: number[] = [];

  constructor(
    private readonly prisma: PrismaService,
    private readonly present: PresentService,
    private readonly index: IndexService,
    private readonly polls: PollService,
    private readonly metrics: ReconciliationMetrics,
    config: ConfigService<Loaded, true>,
  ) {
    this.settings = config.get('settings', { infer: true });
    this.backOff = new BackOff(Math.max(1, this.settings.resolverEverySeconds) * 1_000);
    metrics.watchDoubts(() => this.since);
  }

  onApplicationBootstrap(): void {
    this.schedule(0);
  }

  /** While the database and the upstream can still be reached. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped.abort();
    clearTimeout(this.timer);
    await this.working;
  }

  /** Looks at recent calls in doubt soon, at most every ten seconds: something is said to have happened. */
  pollSoon(): void {
    const now = Date.now();
    if (now - this.hurriedAt < HURRY_EVERY_MS) return;
    this.hurriedAt = now;
    this.backOff.hurry(now);
    this.hinted = true; // a round that is under way may have asked before
    this.schedule(SOON_MS);
  }

  /** Looks at those calls in doubt whose turn it is; so it does by itself, every RESOLVER_EVERY_SECONDS. */
  async run(signal: AbortSignal): Promise<void> {
    await this.turn(signal, false);
  }

  /** Looks at all calls in doubt, now. */
  async runOnce(): Promise<Round> {
    return this.turn(this.stopped.signal, true);
  }

  private schedule(inMs: number): void {
    const { resolverEverySeconds } = this.settings;
    clearTimeout(this.timer);
    if (this.stopped.signal.aborted || resolverEverySeconds === 0) return;
    this.timer = setTimeout(() => {
      this.hinted = false;
      void this.run(this.stopped.signal)
        .catch((error: unknown) => this.complain(codeOf(error)))
        .finally(() => this.schedule(this.hinted ? SOON_MS : resolverEverySeconds * 1_000));
    }, inMs);
    this.timer.unref();
  }

  /** One round after the other. */
  private turn(signal: AbortSignal, all: boolean): Promise<Round> {
    const turn = this.working.then(() => this.round(signal, all));
    this.working = turn.catch(() => undefined);
    return turn;
  }

  /** @param all also what would be looked at later only. */
  private async round(signal: AbortSignal, all: boolean): Promise<Round> {
    if (signal.aborted) return { ...NOTHING, inDoubt: 0 };
    const { ids, calls } = await this.read();
    const due = calls.filter(({ id, sentFrom }) => all || this.backOff.isDue(id, sentFrom, Date.now()));
    const inDoubt = calls.length;
    if (due.length === 0) return { ...NOTHING, inDoubt };
    const lock = await SessionLock.take(this.settings.databaseUrl, RESOLVER_LOCK);
    if (!lock) return { ...NOTHING, inDoubt, elsewhere: true };
    try {
      const { left, ...answer } = await this.polls.poll(due, ids, signal);
      const done = due.filter(({ id }) => !left.has(id));
      this.remember(done, answer.verdicts, answer.failure);
      return { ...answer, elsewhere: false, inDoubt, polled: done.length };
    } finally {
      await lock.release();
    }
  }

  /** The ids of all calls that may be in doubt, and those of them that are, in the order in which it is their turn. */
  private async read(): Promise<{ ids: string[]; calls: SentCallState[] }> {
    await this.index.catchUp();
    const present = await this.present.read(); // before the records: see there
    const ids = await findCallsInDoubt(this.prisma);
    const some = this.backOff.inTurn(ids).slice(0, MOST_PER_ROUND);
    const calls = await readCallsInDoubt(this.prisma, some, present, overAfterMs(this.settings));
    this.since = calls.map(({ sentFrom }) => sentFrom.getTime());
    this.backOff.keepOnly(new Set(ids));
    return { ids, calls };
  }

  private remember(due: SentCallState[], verdicts: NewVerdict[], failure: string | null): void {
    for (const call of due) this.backOff.polled(call.id, call.sentFrom, Date.now(), quietUntil(call, this.polls.rules));
    for (const { intentId, verdict } of verdicts) {
      this.metrics.countVerdict(verdict);
      this.logger.log({ call_id: intentId, verdict }, 'verdict on a call in doubt recorded');
    }
    this.complain(failure ?? undefined);
  }

  /** Once for each reason; undefined: all is well. */
  private complain(reason: string | undefined): void {
    if (reason === this.complaint || this.stopped.signal.aborted) return;
    this.complaint = reason;
    if (reason === undefined) this.logger.log('calls in doubt are polled again');
    else this.logger.warn({ failure: reason }, 'calls in doubt cannot be polled; trying again later');
  }
}

/** What a database says may name what stands in it; its code does not. */
function codeOf(error: unknown): string {
  const { code, name } = error as { code?: string; name?: string };
  return code ?? name ?? 'error';
}
