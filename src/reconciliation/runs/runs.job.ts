import { Inject, Injectable, Logger } from '@nestjs/common';
import { Cron } from 'croner';
import { ReconciliationMetrics } from '../../http/metrics/reconciliation-metrics';
import { insertRunFailure } from '../../journal/reconciliation/reconciliations';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { accountNames } from '../../platform/config/upstream/upstream-accounts';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { uuidFloor } from '../../platform/database/uuid';
import { codeOrNameOf, codeOf } from '../../platform/errors/error-code';
import { Problem } from '../../platform/errors/problem';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { RunConnection } from '../book/connection';
import { Execution, RunFailure } from './execution';
import { Result, Run, RunReader } from './run-reader';
import { dayBefore, RunsService } from './runs.service';

/** Maximum number of simultaneous runs per worker. Each comparison keeps a database core busy. */
const MOST_AT_ONCE = 2;

/** Interval at which a worker looks for unannounced runs, such as those of a killed worker. */
const LOOK_EVERY_MS = 5_000;

/** Carries out the queued runs. Any number of workers take part, and each run has one worker. */
@Injectable()
export class RunsJob implements Job {
  readonly name = 'runs';
  readonly isShared = true;
  private readonly logger = new Logger('Reconciliation');
  /** Runs in progress, by ID. */
  private readonly working = new Map<string, Promise<void>>();
  private isFailing = false;

  constructor(
    @Inject(SETTINGS) private readonly settings: RunningConfig,
    private readonly prisma: PrismaService,
    private readonly reader: RunReader,
    private readonly execution: Execution,
    private readonly metrics: ReconciliationMetrics,
  ) {}

  /** Takes queued runs. They never delay a worker's end: another worker continues, with the same result. */
  async run(turns: Turns): Promise<void> {
    while (!turns.areOver) {
      try {
        await this.takeUp(turns);
        this.isFailing = false;
      } catch (err) {
        if (!this.isFailing && !turns.areOver)
          this.logger.warn({ err }, 'queued runs cannot be taken, will retry');
        this.isFailing = true;
      }
      await turns.wait(LOOK_EVERY_MS);
    }
    await Promise.all(this.working.values());
  }

  private async takeUp(turns: Turns): Promise<void> {
    if (this.working.size >= MOST_AT_ONCE) return;
    for (const run of await this.reader.current(this.prisma)) {
      if (this.working.size >= MOST_AT_ONCE || turns.areOver) return;
      if (!run.held && !this.working.has(run.id)) await this.take(run, turns);
    }
  }

  /** Carries out a run, unless another worker does. */
  private async take({ id }: Run, turns: Turns): Promise<void> {
    const connection = await RunConnection.open(this.settings);
    try {
      const run = (await connection.lockRun(id)) ? await this.reader.one(id) : undefined;
      if (!run || run.end) return await connection.close();
      const done = this.carryOut(run, connection, turns.signal).finally(() => {
        this.working.delete(id);
        turns.wake();
      });
      this.working.set(id, done);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Carries out a run. Never rejects: a failure is recorded, or logged if recording fails. */
  private async carryOut(run: Run, connection: RunConnection, stop: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stop, connection.lost]);
    const close = () => void connection.close();
    stop.addEventListener('abort', close); // The queries in progress end with it.
    try {
      signal.throwIfAborted();
      this.requireAccount(run);
      await this.execution.carryOut(run, connection, signal);
      await this.reportEnd(run);
    } catch (error) {
      if (signal.aborted) this.logInterruption(run, stop.aborted);
      else await this.fail(run, connection, error);
    } finally {
      stop.removeEventListener('abort', close);
      await connection.close();
    }
  }

  /** @throws RunFailure if this worker has no access to the account of the run. */
  private requireAccount({ account, readId }: Run): void {
    if (readId !== null || accountNames(this.settings).includes(account)) return;
    const text =
      `The worker does not know the upstream account ${account}. Configure it for all processes, then ` +
      'start the run again.';
    throw new RunFailure(text);
  }

  private async reportEnd(run: Run): Promise<void> {
    const { end, endedAt } = (await this.reader.one(run.id).catch(() => undefined)) ?? {};
    if (!end || !endedAt) return; // Without a connection, the end cannot be recorded.
    this.logger.log({ run_id: run.id, result: end.result }, 'run ended');
    this.observe(run, end.result, endedAt);
  }

  private observe({ account, startedAt }: Run, result: Result, endedAt: Date): void {
    this.metrics.runs.observe({ result, account }, (endedAt.getTime() - startedAt.getTime()) / 1_000);
  }

  private logInterruption({ id }: Run, isStopping: boolean): void {
    const reason = isStopping ? 'the worker is shutting down' : 'its connection to the database was lost';
    this.logger.warn({ run_id: id }, `run interrupted because ${reason}, a worker will continue it`);
  }

  private async fail(run: Run, { client }: RunConnection, error: unknown): Promise<void> {
    const isKnown = error instanceof RunFailure;
    const failure = isKnown
      ? error.message
      : `The comparison failed (${codeOrNameOf(error)}), and nothing was stored. Start the run again. If ` +
        'it fails again, give the ID of the run to the operator.';
    try {
      await client.query('ROLLBACK');
      await insertRunFailure(client, run.id, isKnown ? error.readId : null, failure);
    } catch {
      return this.logInterruption(run, false); // The server announced the end of the connection.
    }
    this.observe(run, 'failed', clock.now());
    if (isKnown) this.logger.warn({ run_id: run.id }, failure);
    else this.logger.error({ run_id: run.id, err: error }, 'run failed');
  }
}

/** Interval of checks for missed runs between two scheduled times, in ms. */
const CHECK_EVERY_MS = 60_000;

/**
 * Begins a run of the previous day for each account at each time of RECONCILIATION_SCHEDULE. The rows of the
 * runs are the queue: a due run without a row is begun at the next check.
 */
@Injectable()
export class ScheduleService implements Job {
  readonly name = 'schedule';
  private readonly logger = new Logger('Reconciliation');
  /** The scheduled times. Undefined without a schedule. */
  private readonly ticks: Cron | undefined;
  private readonly accounts: string[];

  constructor(
    @Inject(SETTINGS) settings: RunningConfig,
    private readonly prisma: PrismaService,
    private readonly reader: RunReader,
    private readonly runs: RunsService,
  ) {
    const { schedule } = settings.reconciliation;
    this.ticks = schedule === undefined ? undefined : new Cron(schedule, { timezone: 'UTC', paused: true });
    this.accounts = accountNames(settings);
  }

  async run(turns: Turns): Promise<void> {
    while (!turns.areOver) {
      const now = clock.now();
      if (this.ticks) await this.checkAll(now);
      const next = this.ticks?.nextRun(now)?.getTime() ?? Infinity;
      await turns.wait(Math.max(0, Math.min(next, now.getTime() + CHECK_EVERY_MS) - clock.nowMs()));
    }
  }

  /** Begins the due runs. A failure for one account does not delay the others. */
  async checkAll(now: Date): Promise<void> {
    for (const account of this.accounts) await this.checkSafely(account, now);
  }

  /** Begins the due run. Only the newest scheduled time counts, because a run compares a whole day. */
  async check(account: string, now: Date): Promise<void> {
    const [due] = this.ticks?.previousRuns(1, new Date(now.getTime() + 1)) ?? []; // including now
    if (due && (await this.isMissing(account, due))) {
      await this.runs.begin({ account, ...dayBefore(due), asOf: null, statementId: null }, null, due);
    }
  }

  /** Returns whether a due run is missing. A proxy without history at that time has missed nothing. */
  private async isMissing(account: string, due: Date): Promise<boolean> {
    if ((await this.reader.list({ account, dueAt: due }, 1)).length > 0) return false;
    const first = await this.prisma.intent.findFirst({
      where: { id: { lt: uuidFloor(due) } },
      select: { id: true },
    });
    return first !== null;
  }

  private async checkSafely(account: string, now: Date): Promise<void> {
    try {
      await this.check(account, now);
    } catch (error) {
      // The next check follows in a minute, and the list of runs shows the gap.
      const isExpected = error instanceof Problem && error.code !== 'internal_error';
      if (!isExpected)
        this.logger.warn({ account, code: codeOf(error) }, 'schedule check failed, will retry in a minute');
    }
  }
}
