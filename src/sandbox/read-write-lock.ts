/** Runs any number of tasks concurrently, or one exclusively, so that a reset never interrupts a payout. */
export class ReadWriteLock {
  private readonly inside = new Set<Promise<unknown>>();
  private alone: Promise<unknown> = Promise.resolve();

  async pass<T>(work: () => Promise<T>): Promise<T> {
    let before: Promise<unknown>;
    do await (before = this.alone);
    while (before !== this.alone); // A task may have requested exclusive access meanwhile.
    return this.enter(work);
  }

  /** Runs `work` once all running tasks have ended. Later tasks wait for it. */
  async close<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.alone.then(async () => {
      await Promise.allSettled(this.inside);
      return work();
    });
    this.alone = turn.catch(() => undefined);
    return turn;
  }

  private enter<T>(work: () => Promise<T>): Promise<T> {
    const run = work();
    this.inside.add(run);
    const leave = () => this.inside.delete(run);
    run.then(leave, leave);
    return run;
  }
}
