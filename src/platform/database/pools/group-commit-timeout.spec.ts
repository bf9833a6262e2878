import { setImmediate } from 'node:timers/promises';
import { GroupCommit, GATHERING_TURNS } from './group-commit';
import { DatabaseTooSlow } from './timeouts';

/** A database that ends each write on command. */
class Database {
  readonly attempts: number[][] = [];
  readonly open: { end: () => void; fail: () => void }[] = [];

  write = (rows: number[]): Promise<void> => {
    this.attempts.push(rows);
    return new Promise((end, reject) => this.open.push({ end, fail: () => reject(new Error('gone')) }));
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 2 * GATHERING_TURNS; turn += 1) await setImmediate();
}

const TIMEOUT_MS = 20;

describe('GroupCommit with a timeout', () => {
  let database: Database;
  let batches: GroupCommit<number>;
  beforeEach(() => {
    // Only the timers stand still. Turns of the event loop go on.
    jest.useFakeTimers({ doNotFake: ['performance', 'setImmediate', 'nextTick', 'queueMicrotask'] });
    database = new Database();
    batches = new GroupCommit<number>(database.write, () => 1, 1_000, { timeoutMs: TIMEOUT_MS });
  });
  afterEach(() => jest.useRealTimers());

  /** Lets the time limit of these rows pass. */
  async function outwait(...rows: Promise<void>[]): Promise<void> {
    const rejected = rows.map((row) => expect(row).rejects.toThrow(DatabaseTooSlow));
    await settled();
    jest.advanceTimersByTime(TIMEOUT_MS);
    await Promise.all(rejected);
    await settled();
  }

  it('rejects a row whose statement takes longer', async () => {
    await outwait(batches.add(1));
    expect(database.attempts).toEqual([[1]]);
  });

  it('never writes a row that was rejected while it waited', async () => {
    const first = batches.add(1);
    await settled();
    await outwait(first, batches.add(2), batches.add(3));
    database.open[0]?.end();
    await settled();
    expect(database.attempts).toEqual([[1]]);
  });

  it('never retries a row that was rejected before its statement failed', async () => {
    await outwait(batches.add(1));
    database.open[0]?.fail();
    await settled();
    expect(database.attempts).toEqual([[1]]);
  });

  it('writes the next rows while a statement is still in progress', async () => {
    await outwait(batches.add(1));
    const next = batches.add(2);
    await settled();
    expect(database.attempts).toEqual([[1], [2]]);
    database.open[1]?.end();
    await next;
  });
});
