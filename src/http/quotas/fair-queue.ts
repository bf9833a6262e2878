import { RoundRobinQueue } from './round-robin-queue';

/** Ends a turn, which has rested this long. It may be called again without effect. */
export type EndTurn = (restedMs?: number) => void;

/** Lets a few work at once. The others wait, and their keys take turns. A slot may rest between two turns. */
export class FairQueue {
  private working = 0;
  /** Callbacks that start the waiting work. */
  private readonly waiting = new RoundRobinQueue<() => void>();

  /** @param restAfter returns how long a slot rests for work of this length. Both in milliseconds. */
  constructor(
    private readonly atOnce: number,
    private readonly restAfter: (workedMs: number) => number = () => 0,
  ) {}

  /**
   * Waits for a turn.
   * @param signal ends the wait.
   * @throws the reason of the signal.
   */
  async turn(key: string, signal?: AbortSignal): Promise<EndTurn> {
    signal?.throwIfAborted();
    if (this.working < this.atOnce) this.working += 1;
    else await this.wait(key, signal);
    const beganAt = performance.now();
    let isOver = false;
    return (restedMs = 0) => {
      if (!isOver) this.rest(this.restAfter(performance.now() - beganAt - restedMs));
      isOver = true;
    };
  }

  get length(): number {
    return this.waiting.size;
  }

  private wait(key: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.waiting.remove(key, begin);
        reject(signal?.reason as Error);
      };
      const begin = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.waiting.add(key, begin);
    });
  }

  private rest(forMs: number): void {
    if (forMs <= 0) this.next();
    else setTimeout(() => this.next(), forMs).unref();
  }

  /** Hands the turn to the next key, which then waits behind all others. */
  private next(): void {
    const begin = this.waiting.next(() => true);
    if (begin) begin();
    else this.working -= 1;
  }
}
