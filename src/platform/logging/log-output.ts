import { write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const STDOUT = 1;

/** Batch size of lines. A system call for each line would be a large part of the cost of a request. */
const WRITE_BYTES = 16_000;
const WRITE_AFTER_MS = 100;

/** Size of the backlog above which lines are dropped, because the reader is too slow or its disk is full. */
const MOST_WAITING_BYTES = 8_388_608;

/** Time limit of a slow reader at the end of the process. */
const LAST_WAIT_MS = 1_000;
const TRY_AGAIN_MS = 10;

/**
 * Writes the log to standard output. A lost reader, a closed terminal or a full disk neither stops a payment
 * nor delays the end of the process.
 */
export class LogOutput {
  private waiting: Buffer[] = [];
  private size = 0;
  private isWriting = false;
  private timer: NodeJS.Timeout | undefined;

  constructor() {
    process.once('exit', () => this.writeRest());
  }

  write(line: string): void {
    if (this.size >= MOST_WAITING_BYTES) return;
    const bytes = Buffer.from(line);
    this.waiting.push(bytes);
    this.size += bytes.length;
    if (this.size >= WRITE_BYTES) this.writeAll();
    else this.writeLater();
  }

  /**
   * Waits at most a second until all lines are written, before the process ends. Lines written at its exit
   * would overtake a write in progress, or end with it.
   */
  async end(): Promise<void> {
    const deadline = performance.now() + LAST_WAIT_MS;
    while (this.size > 0 && performance.now() < deadline) {
      this.writeAll();
      await sleep(TRY_AGAIN_MS);
    }
  }

  private writeLater(): void {
    this.timer ??= setTimeout(() => this.writeAll(), WRITE_AFTER_MS).unref();
  }

  private writeAll(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isWriting) return; // its end looks for what came since
    this.isWriting = true;
    const lines = Buffer.concat(this.waiting);
    this.waiting = [];
    write(STDOUT, lines, (error, written) => {
      this.isWriting = false;
      // A named pipe may get another reader, but the lines that the last one did not read are lost.
      const rest = error?.code === 'EPIPE' ? lines.subarray(lines.length) : lines.subarray(written);
      if (rest.length > 0) this.waiting.unshift(rest);
      this.size -= lines.length - rest.length;
      if (rest.length === 0 && this.size >= WRITE_BYTES) this.writeAll();
      else if (this.size > 0) this.writeLater();
    });
  }

  private writeRest(): void {
    let rest = Buffer.concat(this.waiting);
    const deadline = performance.now() + LAST_WAIT_MS;
    while (rest.length > 0 && performance.now() < deadline) {
      try {
        rest = rest.subarray(writeSync(STDOUT, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TRY_AGAIN_MS);
      }
    }
  }
}

/** Lets the process outlive the readers of its output. An error without a listener would end it. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
