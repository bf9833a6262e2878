import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { StartError } from '../../config/config';
import { codeOf } from '../../errors/error-code';
import { isUnavailable } from '../pools/unavailable';
import { cannotReach } from './database-client';

/** Time limit of a start. A server that restarts after a crash reads its log first. */
const TIMEOUT_MS = 60_000;

const AGAIN_MS = 250;

/** Interval of measurements of this process's lateness, and the lateness that explains a failure. */
const TICK_MS = 50;
const LATE_MS = 1_000;

/** SQLSTATEs of a server that ends, has crashed, or starts. */
const RESTARTING = /^57P0[1-3]$/;

interface ReachabilityOptions {
  /** The address of the database, for the error. */
  url: string;
  /**
   * The failures to wait for. A process waits for a database that is `unavailable` for any reason. A command
   * waits for a server that is `restarting`, and reports a wrong address at once.
   */
  while: 'unavailable' | 'restarting';
  timeoutMs?: number | undefined;
}

/** The stop of a process that waits. */
class WaitGivenUp extends StartError {
  constructor() {
    super('stopped before the database could be reached');
  }
}

const stopping = new AbortController();

/** Ends all waits of this process with WaitGivenUp, because it stops. */
export function giveUpWaiting(): void {
  stopping.abort();
}

/** Swallows the error of a start that ended by a stop. Throws any other one. */
export function unlessGivenUp(error: unknown): void {
  if (!(error instanceof WaitGivenUp)) throw error;
}

/**
 * Runs the work of a start that needs the database, and repeats it for up to a minute while the database
 * cannot be used. Logs the wait once. The work must be repeatable.
 * @throws StartError if the database cannot be used by then. Other errors of the work at once. WaitGivenUp.
 */
export async function onceReachable<Result>(
  waiting: ReachabilityOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const deadline = performance.now() + (waiting.timeoutMs ?? TIMEOUT_MS);
  for (let isLogged = false; ; isLogged = true) {
    const lateness = new Lateness();
    try {
      return await work();
    } catch (error) {
      const lateMs = lateness.milliseconds;
      if (!isWaitedFor(waiting, error, lateMs)) throw error;
      if (performance.now() >= deadline) throw givenUp(waiting.url, error, lateMs);
      if (!isLogged) logWait(error, lateMs, waiting.timeoutMs ?? TIMEOUT_MS);
    } finally {
      lateness.end();
    }
    await sleep(AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => undefined); // the stop wakes it
    if (stopping.signal.aborted) throw new WaitGivenUp();
  }
}

/** Returns whether to wait. A late process may have missed an answer, so its failures prove nothing. */
function isWaitedFor({ while: state }: ReachabilityOptions, error: unknown, lateMs: number): boolean {
  const cause = causeOf(error);
  if (!isUnavailable(cause)) return false;
  return state === 'unavailable' || lateMs >= LATE_MS || RESTARTING.test(codeOf(cause) ?? '');
}

function logWait(error: unknown, lateMs: number, timeoutMs: number): void {
  const logger = new Logger('Database');
  const line = {
    reason: codeOf(causeOf(error)) ?? 'no answer in time',
    timeout_s: Math.ceil(timeoutMs / 1_000),
  };
  if (lateMs < LATE_MS) logger.warn(line, 'waiting for the database');
  else
    logger.warn(
      { ...line, late_ms: Math.round(lateMs) },
      'waiting for the database, after this process itself was late',
    );
}

function givenUp(url: string, error: unknown, lateMs: number): StartError {
  const { message } = error instanceof StartError ? error : cannotReach(url, error);
  if (lateMs < LATE_MS) return new StartError(message, { cause: error });
  const seconds = (lateMs / 1_000).toFixed(1);
  return new StartError(
    `${message} This process itself was late by ${seconds} seconds meanwhile. Give it more CPU time.`,
    { cause: error },
  );
}

/** Returns the error of the driver, which a StartError of database-client.ts has as its cause. */
function causeOf(error: unknown): unknown {
  return error instanceof StartError ? error.cause : error;
}

/** Measures how late this process runs because it is busy, suspended, or without CPU time. */
class Lateness {
  private lateMs = 0;
  private due = performance.now() + TICK_MS;
  private readonly timer = setInterval(() => this.tick(), TICK_MS);

  get milliseconds(): number {
    return this.lateMs + Math.max(0, performance.now() - this.due);
  }

  end(): void {
    clearInterval(this.timer);
  }

  private tick(): void {
    this.lateMs = this.milliseconds;
    this.due = performance.now() + TICK_MS;
  }
}
