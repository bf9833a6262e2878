import { Turns } from './turns';

/** The background jobs, each with the second number of its lock. */
export const JOBS = {
  seal: 1,
  index: 2,
  resolve: 3,
  schedule: 4,
  partitions: 5,
  runs: 6,
  follow: 7,
  wallets: 8,
  expire: 9,
} as const;
export type JobName = keyof typeof JOBS;
export const JOB_NAMES = Object.keys(JOBS) as JobName[];

/**
 * The channel on which a worker learns that a job has something to do. The payload is the name of the job.
 */
export const JOB_CHANNEL = 'payout_proxy_jobs';

/** Work that goes on in the background, in a worker. */
export interface Job {
  readonly name: JobName;
  /** Whether every worker takes part. Otherwise, one worker at a time holds the job. */
  readonly isShared?: boolean;
  /**
   * Works until `turns` are over, and tries again after failures that pass. Returns earlier if another worker
   * may be able to do what this one cannot. It may be killed at any point, and a lost lock does not end it at
   * once: two workers that do the same must do no harm.
   */
  run(turns: Turns): Promise<void>;
}
