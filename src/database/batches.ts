interface Waiting<Row, Result> {
  row: Row;
  done: (result: Result) => void;
  failed: (reason: unknown) => void;
}

/**
 * Lets concurrent rows share a statement, and its commit: while one batch is on its way to the database the next one forms,
 * and the first of all starts at once, without any timer.
 */
export class Batches<Row, Result = void> {
  private waiting: Waiting<Row, Result>[] = [];
  private writing = false;

  /**
   * @param write writes (or looks up) all rows, or none, and says what came of each, if that is to be said. A row may come
   *   `again`, alone, after a batch that was reported as failed: it may have been written all the same.
   * @param weigh what a row counts towards `maxWeight` of one batch.
   */
  constructor(
    private readonly write: (rows: Row[], again: boolean) => Promise<[Result] extends [void] ? void : Result[]>,
    private readonly weigh: (row: Row) => number,
    private readonly maxWeight: number,
  ) {}

  /** Resolves once the row's batch is through. */
  add(row: Row): Promise<Result> {
    return new Promise((done, failed) => {
      this.waiting.push({ row, done, failed });
      if (!this.writing) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.writing = true;
    await Promise.resolve(); // those who ask in the same turn come along
    while (this.waiting.length > 0) await this.writeBatch(this.nextBatch());
    this.writing = false;
  }

  private nextBatch(): Waiting<Row, Result>[] {
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
      const results = (await this.write(
        batch.map(({ row }) => row),
        again,
      )) as Result[] | undefined;
      for (const [place, { done }] of batch.entries()) done(results?.[place] as Result);
    } catch (reason) {
      if (batch.length === 1) batch[0]?.failed(reason);
      else await Promise.all(batch.map((one) => this.writeBatch([one], true))); // one bad row must not fail its neighbours
    }
  }
}
