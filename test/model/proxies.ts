import { LOCKS } from '../../src/platform/database/locks';
import { eventually } from '../support/payments/paying';
import { removeDataDir } from '../support/processes/data-dir';
import { Fleet } from '../support/processes/fleet';
import { FrozenSend } from '../support/processes/frozen-send';
import { newDataDir } from '../support/processes/process';
import { WrongClock } from '../support/processes/wrong-clock';
import { Inconclusive } from './checks/inconclusive';
import { MAX_SKEW_SECONDS } from './disaster';
import { OldDatabase } from './old-database';

const QUIET_SECONDS = 3_600;

/** Settings of both proxies and the worker. */
export const ENVIRONMENT = {
  UPSTREAM_TIMEOUT_MS: '600',
  // Few and short, because hanging requests delay others beyond their timeout.
  UPSTREAM_CONNECTIONS: '12',
  UPSTREAM_MAX_RESPONSE_BYTES: '1000000',
  DATABASE_POOL_SIZE: '5',
  // Longer than any wave, so that the guard never depends on the speed of the machine.
  DUPLICATE_WINDOW_SECONDS: '3600',
  // Longer than any wave, which ends it by itself.
  RESOLVER_QUIET_SECONDS: String(QUIET_SECONDS),
  RESOLVER_REJECTED_QUIET_SECONDS: String(QUIET_SECONDS),
  // Shorter than a wave, so that some calls expire in the queue.
  QUEUE_EXPIRES_AFTER_SECONDS: '4',
  MAX_CLOCK_SKEW_SECONDS: String(MAX_SKEW_SECONDS),
};

const START_TRIES = 5;

/** Maximum response time of an awake process on a busy machine. */
const LONGEST_ANSWER_MS = 1_000;

/** Returns the name of a proxy's database connections. */
const nameOf = (index: number) => `proxy-${index}`;

/** The two proxies. Each can be killed, suspended, and given a wrong clock. */
export class Proxies {
  private readonly up = [true, true];
  /** The suspended proxy that the database still sees. */
  private frozen: number | undefined;
  private restarting: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly database: OldDatabase,
    private readonly fleet: Fleet,
    private readonly wallClocks: WrongClock[],
    private readonly sends: FrozenSend[],
    private readonly clockDir: string,
  ) {}

  /** @throws Inconclusive */
  static async start(database: OldDatabase, env: Record<string, string>): Promise<Proxies> {
    const clockDir = newDataDir();
    const wallClocks = [0, 1].map((index) => new WrongClock(clockDir, nameOf(index), 0));
    const sends = [0, 1].map((index) => new FrozenSend(clockDir, nameOf(index)));
    const own = (index: number) => ({
      NODE_OPTIONS: `${wallClocks[index]?.env.NODE_OPTIONS} ${sends[index]?.option}`,
      DATABASE_URL: `${database.url}?application_name=${nameOf(index)}`,
    });
    const fleet = await started(() => Fleet.start(2, database, env, own));
    return new Proxies(database, fleet, wallClocks, sends, clockDir);
  }

  /** Number of proxies that the database may see. */
  get seen(): number {
    return this.up.filter(Boolean).length + (this.frozen === undefined ? 0 : 1);
  }

  get dataDirs(): string[] {
    return this.fleet.dataDirs;
  }

  isUp(index: number): boolean {
    return this.up[index] === true;
  }

  /** Returns a proxy with its address, or the other one while it is down. */
  async servedBy(index: number): Promise<{ by: number; url: string }> {
    if (!this.up.includes(true)) await this.restarting;
    const by = this.up[index] ? index : 1 - index;
    return { by, url: this.fleet.url(by) };
  }

  /** @param meanwhile runs before the process is back. */
  async killAndRestart(victim: number, meanwhile: () => Promise<void>): Promise<void> {
    if (!this.up[victim]) return;
    this.up[victim] = false;
    const killed = this.fleet.kill(victim);
    const restarted = killed.then(() => this.startAgain(victim));
    // Set immediately: while the other one is frozen, all requests wait for this one.
    this.restarting = restarted.catch(() => undefined);
    await Promise.all([restarted, killed.then(meanwhile)]);
  }

  /**
   * Shuts down both, and starts them again.
   * @param meanwhile runs while both are down.
   */
  async restartAll(meanwhile: () => Promise<void>): Promise<void> {
    this.up.fill(false);
    const restarted = Promise.all([0, 1].map((index) => this.fleet.end(index)))
      .then(meanwhile)
      .then(() => Promise.all([0, 1].map((index) => this.startAgain(index))));
    this.restarting = restarted.catch(() => undefined);
    await restarted;
  }

  /**
   * Freezes a proxy like a suspended machine.
   * @returns false if it is down.
   */
  suspend(victim: number): boolean {
    if (!this.up[victim]) return false;
    this.up[victim] = false;
    this.frozen = victim;
    this.fleet.signal(victim, 'SIGSTOP');
    return true;
  }

  /**
   * Freezes a proxy right before the first byte of an admitted request, or anyway if it sends nothing.
   * @returns false if it is down.
   */
  async suspendAtSend(victim: number): Promise<boolean> {
    if (!this.up[victim]) return false;
    await this.sends[victim]?.next();
    return this.suspend(victim);
  }

  /** Resolves once it answers. One frozen just before its own exit exits only now. */
  async wake(victim: number): Promise<void> {
    await eventually(() => {
      this.fleet.signal(victim, 'SIGCONT');
      return answers(this.fleet.url(victim));
    });
    this.frozen = undefined;
    this.up[victim] = true;
  }

  /**
   * Ends the database's connections to a proxy, as after the timeout of an unresponsive machine.
   * @returns the numbers by which the database knew its process.
   */
  async loseSight(victim: number): Promise<number[]> {
    this.frozen = undefined;
    const rows = await this.database.query<{ number: number | null }>(
      `SELECT (
         SELECT objid::bigint::integer FROM pg_locks l WHERE l.pid = a.pid AND classid = $2 AND objsubid = 2
       ) AS number, pg_terminate_backend(pid)
       FROM pg_stat_activity a WHERE application_name = $1`,
      [nameOf(victim), LOCKS.process],
    );
    return rows.flatMap(({ number }) => number ?? []);
  }

  /** Sets the wall clock of a proxy. Resolves immediately if it is down. */
  async setClock(index: number, aheadMs: number): Promise<void> {
    if (this.up[index]) await this.wallClocks[index]?.set(aheadMs, (name) => this.fleet.signal(index, name));
  }

  async stop(): Promise<void> {
    await this.fleet.stop();
    removeDataDir(this.clockDir);
  }

  private async startAgain(index: number): Promise<void> {
    await started(() => this.fleet.restart(index));
    this.up[index] = true;
  }
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/livez`, { signal: AbortSignal.timeout(LONGEST_ANSWER_MS) }).then(
    () => true,
    () => false,
  );
}

/**
 * Starts a process. Repeats starts that a busy machine made too slow.
 * @throws Inconclusive
 */
async function started<Result>(start: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (cause) {
      if (tries === START_TRIES) throw new Inconclusive('a proxy did not start', { cause });
    }
  }
}
