import { setImmediate } from 'node:timers/promises';
import { DatabaseTooSlow } from './patience';

interface Waiting<Row, Result> {
  row: Row;
  /** Whether whoever asked has been answered: what is not written yet is not written any more. */
  readonly isOver: boolean;
  done: (result: Result) => void;
  failed: (reason: unknown) => void;
}

/**
 * How many turns of the event loop a batch waits for more rows: what has arrived by the same time is read from its sockets in
 * one turn after the other. An empty turn takes microseconds. Measured: docs/internals/decisions/0019.
 */
export const GATHERING_TURNS = 20;

/** Turns may be long where others ask for hundreds of payouts: so long at most, and the turn in which it is over. */
const GATHERING_MS = 10;

/** Rows that are tried alone at the same time: each takes a connection, and the others of the pool are for other work. */
const MAX_LANES = 3;

interface Options {
  /**
   * For how long whoever asks waits. After it the row is rejected with `DatabaseTooSlow`, and is written only if its statement
   * was already on its way; the next batch no longer waits for that statement. By default there is no such limit.
   */
  patienceMs?: number;
}

/**
 * Lets concurrent rows share a statement, and its commit: while one batch is on its way to the database the next one forms.
 * No batch waits for a timer: it leaves once the event loop has seen to what had arrived by then.
 */
export class GroupCommit<Row, Result = void> {
  private waiting: Waiting<Row, Result>[] = [];
  private writing = false;
  private readonly failed: Waiting<Row, Result>[] = [];
  private lanes = 0;
  private readonly patienceMs: number;

  /**
   * @param write writes (or looks up) all rows, or none, and says what came of each, if that is to be said. A row may come
   *   `again`, alone, after a batch that was reported as failed: it may have been written all the same.
   * @param weigh what a row counts towards `maxWeight` of one batch.
   */
  constructor(
    private readonly write: (rows: Row[], again: boolean) => Promise<[Result] extends [void] ? void : Result[]>,
    private readonly weigh: (row: Row) => number,
    private readonly maxWeight: number,
    { patienceMs = Infinity }: Options = {},
  ) {
    this.patienceMs = patienceMs;
  }

  /**
   * Resolves once the row's batch is through.
   * @throws DatabaseTooSlow if that takes longer than the patience; the row may still be written then.
   */
  add(row: Row): Promise<Result> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let isOver = false;
      const end = () => {
        isOver = true;
        clearTimeout(timer);
      };
      const waiting = {
        row,
        get isOver() {
          return isOver;
        },
        done: (result: Result) => (end(), resolve(result)),
        failed: (reason: unknown) => (end(), reject(reason instanceof Error ? reason : new Error('not written'))),
      };
      if (this.patienceMs < Infinity) {
        timer = setTimeout(() => waiting.failed(new DatabaseTooSlow()), this.patienceMs);
      }
      this.waiting.push(waiting);
      if (!this.writing) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.writing = true;
    while (this.waiting.length > 0) {
      await gather();
      const batch = this.nextBatch();
      if (batch.length > 0) await this.withPatience(this.writeBatch(batch));
    }
    this.writing = false;
  }

  /** Waits for a batch no longer than those who asked for its rows do. */
  private async withPatience(written: Promise<void>): Promise<void> {
    if (this.patienceMs === Infinity) return written;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.patienceMs)));
    await Promise.race([written, over]);
    clearTimeout(timer);
  }

  private nextBatch(): Waiting<Row, Result>[] {
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

  private async writeBatch(batch: Waiting<Row, Result>[], again = false): Promise<void> {
    try {
      const rows = batch.map(({ row }) => row);
      const results = (await this.write(rows, again)) as Result[] | undefined;
      for (const [place, { done }] of batch.entries()) done(results?.[place] as Result);
    } catch (reason) {
      if (again) batch[0]?.failed(reason);
      else this.writeEach(batch);
    }
  }

  /** One bad row must not fail its neighbours, nor hold up the next batches: what failed together is tried row by row, beside them. */
  private writeEach(batch: Waiting<Row, Result>[]): void {
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

async function gather(): Promise<void> {
  const end = performance.now() + GATHERING_MS;
  for (let turn = 0; turn < GATHERING_TURNS && performance.now() < end; turn += 1) await setImmediate();
}
