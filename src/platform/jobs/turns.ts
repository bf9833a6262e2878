import { setMaxListeners } from 'node:events';

/** The rhythm of a job: it works, waits for its next turn or for news, and works again. */
export class Turns {
  private hasNews = false;
  private goOn: () => void = () => undefined;

  /** @param signal aborted once the job has to end. */
  constructor(readonly signal: AbortSignal) {
    setMaxListeners(0, signal); // Each job of a worker, and each of its runs, listens to the same signal.
    signal.addEventListener('abort', () => this.goOn(), { once: true });
  }

  get areOver(): boolean {
    return this.signal.aborted;
  }

  /** Begins the next turn now, or right after the current one. */
  wake(): void {
    this.hasNews = true;
    this.goOn();
  }

  /** Resolves after this time, at a wake-up, or at the end of the job. */
  async wait(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    if (!this.hasNews && !this.areOver) {
      await new Promise<void>((resolve) => {
        this.goOn = resolve;
        timer = setTimeout(resolve, ms);
      });
    }
    clearTimeout(timer);
    this.hasNews = false;
  }
}
