import { LoadShedder } from '../../../src/gateway/admission-control/load-shedder';
import { Overloaded } from '../../../src/gateway/admission-control/overloaded';
import { Permit, PermitRequest } from '../../../src/gateway/admission-control/permit';
import { CallerDisconnected } from '../../../src/http/connections/caller-disconnected';

/** Lets promises settle. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const DATABASE_STALLED_MS = 2_000;

export const REQUEST = { priority: 'payment', patienceMs: 20_000, room: 1, isGone: () => false } as const;

/** A request of a test. The others of its members are those of `REQUEST`. */
type Wanted = Partial<PermitRequest> & { name?: string };

/** A shedder with requests of a test, and the order in which they got their permits, in simulated time. */
export class Crowd {
  nowMs = 1_000_000;
  readonly shedder: LoadShedder;
  readonly entered: string[] = [];
  readonly refused: string[] = [];
  readonly retryAfter = new Map<string, number>();
  readonly gone: string[] = [];
  readonly permits = new Map<string, Permit>();
  /** Time of the answer of each request, in ms after its arrival. */
  readonly waits = new Map<string, number>();

  constructor(permits: number, queueRoom: number) {
    const nowMs = () => this.nowMs;
    this.shedder = new LoadShedder({ permits, queueRoom, databaseStalledMs: DATABASE_STALLED_MS, nowMs });
  }

  async arrive(...requests: Wanted[]): Promise<void> {
    for (const request of requests) void this.enter(request);
    await turn();
  }

  async leave(...names: string[]): Promise<void> {
    for (const name of names) this.permits.get(name)?.release();
    await turn();
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 50) {
      this.nowMs += 50;
      jest.advanceTimersByTime(50);
      await turn();
    }
  }

  /** Serves all requests that enter for a time, each as long as `serviceMs` returns, while others arrive. */
  async serve(
    ms: number,
    serviceMs: () => number,
    meanwhile?: (passedMs: number) => Wanted[],
  ): Promise<void> {
    const ends = new Map<string, number>();
    for (let passed = 0; passed <= ms; passed += 50) {
      await this.arrive(...(meanwhile?.(passed) ?? []));
      for (const name of this.permits.keys()) if (!ends.has(name)) ends.set(name, this.nowMs + serviceMs());
      await this.leave(...[...ends.keys()].filter((name) => (ends.get(name) ?? 0) <= this.nowMs));
      await this.pass(50);
    }
  }

  private async enter({ name, client = 'a', ...wanted }: Wanted): Promise<void> {
    const since = this.nowMs;
    const own = name ?? client;
    try {
      this.permits.set(own, await this.shedder.enter({ ...REQUEST, client, ...wanted }));
      this.entered.push(own);
    } catch (error) {
      if (error instanceof CallerDisconnected) return void this.gone.push(own);
      if (!(error instanceof Overloaded)) throw error;
      this.refused.push(own);
      this.retryAfter.set(own, error.retryAfter);
    } finally {
      this.waits.set(own, this.nowMs - since);
    }
  }
}

/** Returns requests with numbered names. */
export const many = (count: number, wanted: Wanted = {}, prefix = wanted.client ?? 'a'): Wanted[] =>
  Array.from({ length: count }, (_, at) => ({ ...wanted, name: `${prefix}${at}` }));
