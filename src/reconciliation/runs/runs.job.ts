import { Inject, Injectable, Logger } from '@nestjs/common';
import { clock } from '../../platform/database/clock';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { accountNames } from '../../platform/config/upstream-accounts';
import { PrismaService } from '../../platform/database/prisma.service';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { insertRunFailure } from '../../journal/reconciliations';
import { ReconciliationMetrics } from '../../http/metrics/reconciliation-metrics';
import { codeOrNameOf } from '../../platform/errors/error-code';
import { Execution, RunFailure } from './execution';
import { RunConnection } from '../matching/connection';
import { Run, RunReader } from './run-reader';

/** The most runs of one worker at a time. Each comparison keeps a core of the database busy. */
const MOST_AT_ONCE = 2;

/** How often a worker looks for runs that it was not told of, such as those of a killed worker. */
const LOOK_EVERY_MS = 5_000;

/** Carries out the queued runs. Any number of workers take part, and each run has one of them. */
@Injectable()
export class RunsJob implements Job {
  readonly name = 'runs';
  readonly isShared = true;
  private readonly logger = new Logger('Reconciliation');
  /** By the ID of the run. */
  private readonly working = new Map<string, Promise<void>>();
  private isFailing = false;

  constructor(
    @Inject(SETTINGS) private readonly settings: RunningConfig,
    private readonly prisma: PrismaService,
    private readonly reader: RunReader,
    private readonly execution: Execution,
    private readonly metrics: ReconciliationMetrics,
  ) {}

  /** Runs never delay the end of a worker. Another one continues an interrupted run, with the same result. */
  async run(turns: Turns): Promise<void> {
    while (!turns.areOver) {
      try {
        await this.takeUp(turns);
        this.isFailing = false;
      } catch (err) {
        if (!this.isFailing && !turns.areOver) this.logger.warn({ err }, 'queued runs cannot be taken, will retry');
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

  /** Begins to carry out a run, unless another worker does. */
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

  /** Never rejects. A failure is recorded, or logged if that is not possible. */
  private async carryOut(run: Run, connection: RunConnection, stop: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stop, connection.lost]);
    const close = () => void connection.close();
    stop.addEventListener('abort', close); // The queries in progress end with it.
    try {
      signal.throwIfAborted();
      this.requireAccount(run);
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

  /** @throws RunFailure if this worker cannot ask the account of the run. */
  private requireAccount({ account, readId }: Run): void {
    if (readId !== null || accountNames(this.settings).includes(account)) return;
    const text = `The worker does not know the upstream account ${account}. Configure it for all processes, then start the run again.`;
    throw new RunFailure(text);
  }

  private async tellOfEnd({ id, account, startedAt }: Run): Promise<void> {
    const end = (await this.reader.one(id).catch(() => undefined))?.end;
    if (!end) return; // The connection is lost, so the end cannot be recorded.
    this.logger.log({ run_id: id, result: end.result }, 'run ended');
    this.metrics.runs.observe({ result: end.result, account }, (end.endedAt.getTime() - startedAt.getTime()) / 1_000);
  }

  private tellOfCut({ id }: Run, isStopping: boolean): void {
    const why = isStopping ? 'the worker is shutting down' : 'its connection to the database was lost';
    this.logger.warn({ run_id: id }, `run interrupted because ${why}, a worker will continue it`);
  }

  private async fail(run: Run, { client }: RunConnection, error: unknown): Promise<void> {
    const isKnown = error instanceof RunFailure;
    const failure = isKnown
      ? error.message
      : `The comparison failed (${codeOrNameOf(error)}), and nothing was stored. Start the run again. If it fails again, give the ID of the run to the operator.`;
    try {
      await client.query('ROLLBACK');
      await insertRunFailure(client, run.id, isKnown ? error.readId : null, failure);
    } catch {
      return this.tellOfCut(run, false); // The server said so before the connection ended.
    }
    this.metrics.runs.observe(
      { result: 'failed', account: run.account },
      (clock.nowMs() - run.startedAt.getTime()) / 1_000,
    );
    if (isKnown) this.logger.warn({ run_id: run.id }, failure);
    else this.logger.error({ run_id: run.id, err: error }, 'run failed');
  }
}
