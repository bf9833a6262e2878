const WIDTH = 30;
const EVERY_MS = 100;

/** A progress bar on standard error. It shows nothing if standard error is not a terminal. */
export class Progress {
  private drawnAt = 0;
  private readonly startedAt = performance.now();

  /** @param unit the unit that is counted, in the plural, such as `rows`. */
  constructor(
    private readonly unit: string,
    private readonly stream: NodeJS.WriteStream = process.stderr,
  ) {}

  /** @param of the total, if it is known. */
  at(done: number, of?: number): void {
    const now = performance.now();
    if (!this.stream.isTTY || now - this.drawnAt < EVERY_MS) return;
    this.drawnAt = now;
    this.draw(done, of);
  }

  /** Clears the progress bar. */
  end(): void {
    if (this.stream.isTTY && this.drawnAt > 0) this.stream.write('\r\x1b[K');
  }

  private draw(done: number, of: number | undefined): void {
    const part = of === undefined ? undefined : of === 0 ? 1 : Math.min(1, done / of);
    const rate = Math.round(done / ((performance.now() - this.startedAt) / 1_000));
    const filled = Math.round((part ?? 0) * WIDTH);
    const bar =
      part === undefined ? '' : `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor(part * 100)}%  `;
    this.stream.write(`\r\x1b[K${bar}${done.toLocaleString('en')} ${this.unit}, ${rate.toLocaleString('en')}/s`);
  }
}
