import { setTimeout as sleep } from 'node:timers/promises';
import {
  BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  OnApplicationBootstrap,
} from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../platform/config/config';
import { sessionUrlOf } from '../platform/database/pools/pools';
import { Job, JobName } from '../platform/jobs/job';
import { Turns } from '../platform/jobs/turns';
import { JobConnection } from './job-connection';

/** Injection token of all jobs. */
export const ALL_JOBS = Symbol('jobs');

/** Interval of attempts to take jobs and to reach a lost database, in ms. */
const TRY_EVERY_MS = 1_000;

/** Time for which a worker leaves a failed job to others, in ms. */
const REST_MS = 3_000;

/** A job of this worker. */
interface Work {
  turns: Turns;
  done: Promise<void>;
}

/** Takes the jobs that no other worker holds, and runs them. Retries the others. */
@Injectable()
export class JobSchedulerService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Worker');
  private readonly sessionUrl: string;
  private readonly stopped = new AbortController();
  private readonly work = new Map<JobName, Work>();
  /** End of the rest after a failed job, by the monotonic clock. */
  private readonly restsUntil = new Map<JobName, number>();
  private working: Promise<void> | undefined;
  private isConnected = false;
  private isFailing = false;

  constructor(
    @Inject(ALL_JOBS) private readonly jobs: Job[],
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.sessionUrl = sessionUrlOf(settings);
  }

  onApplicationBootstrap(): void {
    this.working = this.run();
  }

  /** Ends the jobs while the database and the upstream can still be reached. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped.abort();
    await this.working;
  }

  /** Jobs of this worker. Undefined while the database cannot be reached. */
  get held(): JobName[] | undefined {
    return this.isConnected ? [...this.work.keys()] : undefined;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      try {
        await this.hold(await JobConnection.open(this.sessionUrl, (name) => this.wake(name)));
      } catch (err) {
        if (!this.isFailing) this.logger.warn({ err }, 'jobs not taken, will retry');
        this.isFailing = true;
      }
      await sleep(TRY_EVERY_MS, undefined, { signal }).catch(() => undefined); // the stop wakes it
    }
  }

  /** Resolves after the end of all jobs, once the connection is lost or the worker stops. */
  private async hold(connection: JobConnection): Promise<void> {
    const ending = new AbortController();
    const signal = AbortSignal.any([this.stopped.signal, connection.lost]);
    signal.addEventListener('abort', () => ending.abort());
    try {
      this.isConnected = true;
      while (!signal.aborted) {
        for (const job of this.jobs) {
          const isIdle =
            !this.work.has(job.name) && performance.now() >= (this.restsUntil.get(job.name) ?? 0);
          if (isIdle && (await connection.take(job))) this.start(job, connection, ending.signal);
        }
        this.isFailing = false;
        await sleep(TRY_EVERY_MS, undefined, { signal }).catch(() => undefined); // as above
      }
    } finally {
      this.isConnected = false;
      ending.abort();
      await Promise.all([...this.work.values()].map(({ done }) => done));
      this.work.clear();
      await connection.close();
    }
  }

  private start(job: Job, connection: JobConnection, signal: AbortSignal): void {
    const turns = new Turns(signal);
    this.work.set(job.name, { turns, done: this.carryOut(job, connection, turns) });
    this.logger.debug({ job: job.name }, 'job taken');
  }

  /** Never rejects. */
  private async carryOut(job: Job, connection: JobConnection, turns: Turns): Promise<void> {
    try {
      await job.run(turns);
    } catch (err) {
      this.logger.error({ err, job: job.name }, 'job failed, will retry');
    }
    if (turns.areOver) return;
    this.restsUntil.set(job.name, performance.now() + REST_MS);
    await connection.give(job);
    this.work.delete(job.name);
  }

  private wake(name: string): void {
    this.work.get(name as JobName)?.turns.wake();
  }
}
