import { DatabaseTooSlow, waitAtMost } from './timeouts';

/**
 * A row and its caller. A class, because an object literal with a getter keeps its row in memory until the
 * next full garbage collection: V8 makes a map in the old space for each getter's closure.
 */
class QueuedCommit<Row, Result> {
  /** Whether the caller was already answered. Rows that are not written yet are then dropped. */
  isOver = false;
  /** The end of the caller's wait, by the monotonic clock. */
  until = Infinity;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    readonly row: Row,
    private readonly resolve: (result: Result) => void,
    private readonly reject: (reason: Error) => void,
  ) {}

  answerWithin(timeoutMs: number): void {
    this.until = performance.now() + timeoutMs;
    this.timer = setTimeout(() => this.failed(new DatabaseTooSlow()), timeoutMs);
  }

  done(result: Result): void {
    this.end();
    this.resolve(result);
  }

  failed(reason: unknown): void {
    this.end();
    this.reject(reason instanceof Error ? reason : new Error('not written'));
  }

  private end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }
}

/**
 * Turns of the event loop that a batch waits for more rows. Rows of the same moment are read from their
 * sockets in consecutive turns. An empty turn takes microseconds (decision 0019).
 */
export const GATHERING_TURNS = 20;

/** Longest wait for more rows. Turns are long while other requests have hundreds of payouts. */
const GATHERING_MS = 10;

/**
 * Length of a turn without a new row that ends the wait. Other work made it long, such as a search, and the
 * next turns may be as long.
 */
const LONG_TURN_MS = 1;

/** Concurrent retries of single rows. Each takes a connection, and other work needs the rest of the pool. */
const MAX_LANES = 3;

interface GroupCommitOptions<Row> {
  /**
   * Time limit of a row. After it, the row is rejected with `DatabaseTooSlow`, and is written only if its
   * statement had already started. The next batch does not wait for that statement. Unlimited by default.
   */
  timeoutMs?: number;
  /**
   * Resolves once the commit of a retried row is durable. A retry that finds its row in place writes nothing,
   * so its own commit does not wait for a standby.
   */
  confirm?: () => Promise<void>;
  /** Awaited for each row of a failed batch, before any of them is retried. It never rejects. */
  beforeRetry?: (row: Row) => Promise<void>;
}

/**
 * Lets concurrent rows share a statement and its commit. While one batch is being written, the next one
 * forms. A batch waits for no timer: it starts once the event loop has read all rows that have arrived.
 */
export class GroupCommit<Row, Result = void> {
  private waiting: QueuedCommit<Row, Result>[] = [];
  private writing = false;
  private readonly failed: QueuedCommit<Row, Result>[] = [];
  private lanes = 0;
  private readonly timeoutMs: number;
  private readonly confirm: () => Promise<void>;
  private readonly beforeRetry: (row: Row) => Promise<void>;

  /**
   * @param write writes (or looks up) all rows or none, and returns the result of each, if any. A row comes
   * `again`, alone, after a failed batch, which may have written it. `isAwaited` returns whether the caller
   * of a row still waits.
   * @param weigh returns the weight of a row against `maxWeight` of a batch.
   */
  constructor(
    private readonly write: (
      rows: Row[],
      again: boolean,
      isAwaited: (place: number) => boolean,
    ) => Promise<[Result] extends [void] ? void : Result[]>,
    private readonly weigh: (row: Row) => number,
    private readonly maxWeight: number,
    {
      timeoutMs = Infinity,
      confirm = () => Promise.resolve(),
      beforeRetry = () => Promise.resolve(),
    }: GroupCommitOptions<Row> = {},
  ) {
    this.timeoutMs = timeoutMs;
    this.confirm = confirm;
    this.beforeRetry = beforeRetry;
  }

  /**
   * Resolves once the batch of the row is done.
   * @param timeoutMs how long the caller of this row waits.
   * @throws DatabaseTooSlow if that takes longer than the timeout. The row may still be written.
   */
  add(row: Row, timeoutMs = this.timeoutMs): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = new QueuedCommit(row, resolve, reject);
      if (timeoutMs < Infinity) waiting.answerWithin(timeoutMs);
      this.waiting.push(waiting);
      if (!this.writing) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.writing = true;
    while (this.waiting.length > 0) {
      await this.gather();
      const batch = this.nextBatch();
      if (batch.length > 0) await whileAwaited(batch, this.writeBatch(batch));
    }
    this.writing = false;
  }

  /** Resolves once the rows of the same moment have arrived. */
  private gather(): Promise<void> {
    return new Promise((resolve) => {
      let began = performance.now();
      const end = began + GATHERING_MS;
      let turn = 0;
      let rows = 0;
      const next = () => {
        turn += 1;
        const now = performance.now();
        const brought = this.waiting.length > rows;
        if (turn > GATHERING_TURNS || now >= end || (now - began >= LONG_TURN_MS && !brought))
          return resolve();
        rows = this.waiting.length;
        began = now;
        setImmediate(next);
      };
      next();
    });
  }

  private nextBatch(): QueuedCommit<Row, Result>[] {
    this.waiting = this.waiting.filter(({ isOver }) => !isOver);
    let weight = 0;
    let size = 0;
    for (const { row } of this.waiting) {
      weight += this.weigh(row);
      if (size > 0 && weight > this.maxWeight) break;
      size += 1;
    }
    return this.waiting.splice(0, size);
  }

  private async writeBatch(batch: QueuedCommit<Row, Result>[], again = false): Promise<void> {
    try {
      const rows = batch.map(({ row }) => row);
      const isAwaited = (place: number) => batch[place]?.isOver === false;
      const results = (await this.write(rows, again, isAwaited)) as Result[] | undefined;
      if (again) await this.confirm();
      for (const [place, waiting] of batch.entries()) waiting.done(results?.[place] as Result);
    } catch (reason) {
      if (again) batch[0]?.failed(reason);
      else void this.writeEach(batch);
    }
  }

  /**
   * Retries the rows of a failed batch one by one, in the background. A bad row then fails neither its
   * neighbors nor the next batches.
   */
  private async writeEach(batch: QueuedCommit<Row, Result>[]): Promise<void> {
    await Promise.all(batch.map(({ row }) => this.beforeRetry(row)));
    this.failed.push(...batch);
    while (this.lanes < MAX_LANES && this.failed.length > 0) void this.writeFailed();
  }

  private async writeFailed(): Promise<void> {
    this.lanes += 1;
    for (let one = this.failed.shift(); one; one = this.failed.shift()) {
      if (!one.isOver) await this.writeBatch([one], true);
    }
    this.lanes -= 1;
  }
}

/** Waits for a batch as long as its callers do. */
function whileAwaited(batch: QueuedCommit<unknown, never>[], written: Promise<void>): Promise<void> {
  const until = Math.max(...batch.map((waiting) => waiting.until));
  return until === Infinity ? written : waitAtMost(written, until - performance.now());
}
