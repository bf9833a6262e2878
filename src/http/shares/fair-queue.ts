interface Waiting {
  begin: () => void;
}

/** Lets a few work at once. The others wait, and the keys among them take turns, however many of each wait. */
export class FairQueue {
  private working = 0;
  /** Those who wait, by key. The first key is the next. */
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(private readonly atOnce: number) {}

  /**
   * Waits for a turn.
   * @param signal ends the wait.
   * @returns ends the turn. It may be called again without effect.
   * @throws the reason of the signal.
   */
  async turn(key: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.working < this.atOnce) this.working += 1;
    else await this.wait(key, signal);
    let isOver = false;
    return () => {
      if (!isOver) this.next();
      isOver = true;
    };
  }

  get length(): number {
    return [...this.waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  private wait(key: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.remove(key, one);
        reject(signal?.reason as Error);
      };
      const one: Waiting = {
        begin: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      const others = this.waiting.get(key);
      if (others) others.push(one);
      else this.waiting.set(key, [one]);
    });
  }

  private remove(key: string, one: Waiting): void {
    const left = (this.waiting.get(key) ?? []).filter((other) => other !== one);
    if (left.length > 0) this.waiting.set(key, left);
    else this.waiting.delete(key);
  }

  /** Hands the turn to the next key, which then waits behind all others. */
  private next(): void {
    for (const [key, [one, ...others]] of this.waiting) {
      this.waiting.delete(key);
      if (others.length > 0) this.waiting.set(key, others);
      return one?.begin();
    }
    this.working -= 1;
  }
}
