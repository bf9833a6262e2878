/** Delays work. A stop ends all waiting, and delayed work runs at once. */
export class Timers {
  private readonly waiting = new Map<NodeJS.Timeout, () => void>();
  private readonly running = new Set<Promise<void>>();
  private finishing = false;

  /** Resolves after `ms`, or at the stop. */
  wait(ms: number): Promise<void> {
    if (this.finishing) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.due(timer), ms);
      this.waiting.set(timer, resolve);
    });
  }

  /** Runs `work` after `ms`, or at the stop. Ignores its failure. */
  later(ms: number, work: () => Promise<unknown>): void {
    const run = this.wait(ms)
      .then(work)
      .then(
        () => undefined,
        () => undefined,
      );
    this.running.add(run);
    void run.then(() => this.running.delete(run));
  }

  /** Ends all waiting. Later waits resolve at once. */
  finish(): void {
    this.finishing = true;
    for (const timer of [...this.waiting.keys()]) this.due(timer);
  }

  /** Resolves once all delayed work is done. */
  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private due(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.waiting.get(timer)?.();
    this.waiting.delete(timer);
  }
}
