import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { RunningConfig } from '../../platform/config/config';
import { Loaded } from '../../platform/config/config.module';
import { Problem } from '../../platform/errors/problem';
import { insertRun, insertRunFailure, RunAuthor } from '../../journal/runs';
import { settingsOf } from '../matching/run-settings';
import { EarlierReadsService } from './earlier-reads';
import { Execution, RunFailure } from './execution';
import { checkQuestion, Question } from './question';
import { RunConnection } from './run-connection';
import { RunMetrics } from './run-metrics';
import { Run, RunReader } from './run-reader';

/**
 * The limit of runs on this instance. Each run uses one database connection fully, and payouts need the database too.
 */
const MAX_RUNS = 2;

/** Older interrupted runs do not continue. A request for the same period then means a new run, as of now. */
const RESUMED_FOR_MS = 24 * 3_600_000;

/**
 * How often, and how many times, the run that holds the lock of a period is looked up. It is recorded within
 * milliseconds of the lock.
 */
const LOOK_AGAIN_MS = 50;
const LOOKS = 40;

/** The run that answers a request, and how it came about. */
interface Begun {
  run: Run;
  /** `at work`: the same run was requested before and is in progress. */
  how: 'begun' | 'taken up' | 'at work';
}

interface Work {
  stop: AbortController;
  done: Promise<void>;
}

/** Starts runs and continues interrupted runs. Over all instances, only one run of a period is in progress. */
@Injectable()
export class RunsService implements OnModuleDestroy {
  private readonly logger = new Logger('Reconciliation');
  private readonly settings: RunningConfig;
  private readonly working = new Set<Work>();
  private beginning = 0;
  private stopped = false;

  constructor(
    config: ConfigService<Loaded, true>,
    private readonly reader: RunReader,
    private readonly earlier: EarlierReadsService,
    private readonly execution: Execution,
    private readonly metrics: RunMetrics,
  ) {
    this.settings = config.get('settings', { infer: true });
  }

  /**
   * Starts a run. Resolves once the run is recorded and in progress. It continues in the background.
   * @param by null for the schedule.
   * @param dueAt the time in the schedule that the run is for.
   * @throws Problem that explains why no run was started.
   */
  async begin(question: Question, by: RunAuthor, dueAt: Date | null = null): Promise<Begun> {
    return this.withConnection(async (connection) => {
      checkQuestion(question, await connection.now());
      const settings = settingsOf(this.settings.reconciliation);
      const readId = await this.earlier.chosenFor(question, settings);
      if (!(await connection.lockPeriod(question))) {
        return { run: await this.atWork(question, readId), how: 'at work', keeps: false };
      }
      const cutOff = dueAt === null ? await this.cutOff(question, readId) : undefined;
      if (cutOff && (await connection.lockRun(cutOff.id))) {
        this.work(cutOff, connection);
        return { run: { ...cutOff, held: true }, how: 'taken up', keeps: true };
      }
      const id = uuidv7();
      await connection.lockRun(id);
      const startedAt = await connection.now();
      const { from, to, asOf } = question;
      const isNew = await insertRun(connection.client, {
        id,
        from,
        to,
        asOf: asOf ?? startedAt,
        historical: asOf !== null,
        readId,
        settings,
        dueAt,
        startedAt,
        by,
      });
      const run = isNew ? await this.reader.one(id) : (await this.reader.list({ dueAt: dueAt ?? startedAt }, 1))[0];
      if (!run) throw new Error('a run that was just recorded is not there');
      if (isNew) this.work(run, connection);
      return { run, how: isNew ? 'begun' : 'at work', keeps: isNew };
    });
  }

  /**
   * Continues an interrupted run.
   * @returns whether it is now in progress on this instance.
   */
  async takeUp(run: Run): Promise<boolean> {
    const { how } = await this.withConnection(async (connection) => {
      const isFree = (await connection.lockPeriod(run)) && (await connection.lockRun(run.id));
      const now = isFree ? await this.reader.one(run.id) : undefined;
      if (!now || now.end) return { run, how: 'at work', keeps: false };
      this.work(now, connection);
      return { run: now, how: 'taken up', keeps: true };
    });
    return how === 'taken up';
  }

  /** Runs never delay a shutdown. An interrupted run can continue later, with the same result. */
  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    for (const { stop } of this.working) stop.abort();
    await Promise.all([...this.working].map(({ done }) => done));
  }

  private async withConnection(
    use: (connection: RunConnection) => Promise<Begun & { keeps: boolean }>,
  ): Promise<Begun> {
    if (this.stopped) throw new Problem('not_ready');
    if (this.working.size + this.beginning >= MAX_RUNS) throw new Problem('too_many_runs');
    this.beginning += 1;
    let connection: RunConnection | undefined;
    try {
      connection = await RunConnection.open(this.settings);
      const { keeps, ...begun } = await use(connection);
      if (!keeps) await connection.close();
      return begun;
    } catch (error) {
      await connection?.close();
      throw error;
    } finally {
      this.beginning -= 1;
    }
  }

  /**
   * Returns the run that holds the lock of a period.
   * @throws Problem if it is another run than the requested one.
   */
  private async atWork(question: Question, readId: string | null): Promise<Run> {
    let run: Run | undefined;
    for (let looks = 0; !run && looks < LOOKS; looks += 1) {
      if (looks > 0) await sleep(LOOK_AGAIN_MS);
      run = (await this.reader.list({ from: question.from, to: question.to }, 5)).find(({ held }) => held);
    }
    if (!run) throw new Problem('run_in_progress');
    if (isFor(run, question, readId)) return run;
    const text = `Another run of this period is in progress, with the ID ${run.id}. Wait until it ends.`;
    throw new Problem('run_in_progress', { text });
  }

  private async cutOff(question: Question, readId: string | null): Promise<Run | undefined> {
    const runs = await this.reader.list({ from: question.from, to: question.to, ended: false }, 20);
    const since = Date.now() - RESUMED_FOR_MS;
    return runs.find((run) => isFor(run, question, readId) && run.startedAt.getTime() > since);
  }

  private work(run: Run, connection: RunConnection): void {
    const stop = new AbortController();
    if (this.stopped) stop.abort();
    const work: Work = { stop, done: Promise.resolve() };
    this.working.add(work);
    work.done = this.carryOut(run, connection, stop.signal).finally(() => this.working.delete(work));
  }

  /** Never rejects. A failure is recorded, or logged if that is not possible. */
  private async carryOut(run: Run, connection: RunConnection, stop: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stop, connection.lost]);
    const close = () => void connection.close();
    stop.addEventListener('abort', close); // The queries in progress end with it.
    try {
      signal.throwIfAborted();
      await this.execution.carryOut(run, connection, signal);
      await this.tellOfEnd(run);
    } catch (error) {
      if (signal.aborted) this.tellOfCut(run, stop.aborted);
      else await this.fail(run, connection, error);
    } finally {
      stop.removeEventListener('abort', close);
      await connection.close();
    }
  }

  private async tellOfEnd({ id, startedAt }: Run): Promise<void> {
    const end = (await this.reader.one(id).catch(() => undefined))?.end;
    if (!end) return; // The connection is lost, so the end cannot be recorded.
    this.logger.log({ run_id: id, result: end.result }, 'run ended');
    this.metrics.countRun(end.result, (end.endedAt.getTime() - startedAt.getTime()) / 1_000);
  }

  private tellOfCut({ id }: Run, isStopping: boolean): void {
    const why = isStopping ? 'the proxy is shutting down' : 'its connection to the database was lost';
    this.logger.warn({ run_id: id }, `run interrupted because ${why}, will continue when started again`);
  }

  private async fail(run: Run, { client }: RunConnection, error: unknown): Promise<void> {
    const { code, name } = error as { code?: string; name?: string };
    const isKnown = error instanceof RunFailure;
    const failure = isKnown
      ? error.message
      : `The comparison failed (${code ?? name ?? 'no reason given'}), and nothing was stored. Start the run again. If it fails again, give the ID of the run to the operator.`;
    try {
      await client.query('ROLLBACK');
      await insertRunFailure(client, run.id, isKnown ? error.readId : null, failure);
    } catch {
      return this.tellOfCut(run, false); // The server said so before the connection ended.
    }
    this.metrics.countRun('failed', (Date.now() - run.startedAt.getTime()) / 1_000);
    if (isKnown) this.logger.warn({ run_id: run.id }, failure);
    else this.logger.error({ run_id: run.id, code, err: error }, 'run failed');
  }
}

function isFor(run: Run, { asOf, statementId }: Question, readId: string | null): boolean {
  const sameThen = asOf === null ? !run.historical : run.historical && run.asOf.getTime() === asOf.getTime();
  return sameThen && run.readId === readId && run.ofStatement === (statementId !== null);
}
