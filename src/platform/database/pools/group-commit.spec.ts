import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { runs } from '../../../../test/support/examples/runs';
import { GroupCommit, GATHERING_TURNS } from './group-commit';

/** A database that ends each write on command, and keeps the commits in order. */
class Database {
  readonly committed: number[] = [];
  readonly attempts: number[][] = [];
  private readonly open: { settle: (fails: boolean) => void }[] = [];

  constructor(private readonly bad: (row: number) => boolean = () => false) {}

  write = (rows: number[]): Promise<void> => {
    this.attempts.push(rows);
    return new Promise((resolve, reject) => {
      const settle = (fails: boolean) => {
        if (fails || rows.some(this.bad)) return reject(new Error(`bad: ${rows.join()}`));
        this.committed.push(...rows);
        resolve();
      };
      this.open.push({ settle });
    });
  };

  get writing(): number {
    return this.open.length;
  }

  /** Ends the write at this place of those on their way; `fails` if the database, and no row, is at fault. */
  end(place = 0, fails = false): void {
    this.open.splice(place, 1)[0]?.settle(fails);
  }
}

/** Waits until all pending work has continued. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2 * GATHERING_TURNS; turn += 1) await setImmediate();
}

const commits = (database: Database, maxWeight = 1_000, weigh = (_row: number) => 1) =>
  new GroupCommit<number>(database.write, weigh, maxWeight);

describe('GroupCommit', () => {
  it('includes rows of the next turns, and no others', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0); // however busy the machine is
    const database = new Database();
    const group = commits(database);
    const rows = [group.add(1), group.add(2)];
    for (let turn = 1; turn < GATHERING_TURNS; turn += 1) await setImmediate();
    expect(database.attempts).toEqual([]);
    rows.push(group.add(3));
    await settled();
    rows.push(group.add(4));
    expect(database.attempts).toEqual([[1, 2, 3]]);
    database.end();
    await settled();
    expect(database.attempts).toEqual([[1, 2, 3], [4]]);
    database.end();
    await Promise.all(rows);
    clock.mockRestore();
  });

  it('does not wait for more turns once a long one has brought no row', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    const database = new Database();
    const group = commits(database);
    const rows = [group.add(1)];
    for (const now of [2, 4]) {
      await setImmediate();
      rows.push(group.add(now));
      clock.mockReturnValue(now);
    }
    await setImmediate();
    expect(database.attempts).toEqual([]); // each of the long turns has brought a row
    clock.mockReturnValue(6);
    await setImmediate();
    await setImmediate();
    expect(database.attempts).toEqual([[1, 2, 4]]);
    clock.mockRestore();
    database.end();
    await Promise.all(rows);
  });

  it('does not wait for more rows when turns are too long', async () => {
    const database = new Database();
    const group = commits(database);
    const row = group.add(1);
    await setImmediate();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
    await setImmediate();
    await setImmediate();
    clock.mockRestore();
    expect(database.attempts).toEqual([[1]]);
    database.end();
    await row;
  });

  it('gathers the next batch while one is in progress, and keeps the order', async () => {
    const database = new Database();
    const group = commits(database);
    const first = group.add(1);
    await settled();
    const next = [group.add(2), group.add(3)];
    await settled();
    expect(database.attempts).toEqual([[1]]);
    database.end();
    await first;
    await settled();
    database.end();
    await Promise.all(next);
    expect(database.committed).toEqual([1, 2, 3]);
  });

  it('resolves no row before its commit', async () => {
    const database = new Database();
    let resolved = false;
    const row = commits(database)
      .add(1)
      .then(() => (resolved = true));
    await settled();
    expect(resolved).toBe(false);
    database.end();
    await row;
  });

  it('fails only the bad row, with its own reason', async () => {
    const database = new Database((row) => row === 2);
    const group = commits(database);
    const rows = Promise.allSettled([1, 2, 3].map((row) => group.add(row)));
    await settled();
    database.end();
    await settled();
    while (database.writing > 0) database.end();
    expect(await rows).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { message: 'bad: 2' } },
      { status: 'fulfilled' },
    ]);
    expect(database.attempts).toEqual([[1, 2, 3], [1], [2], [3]]);
  });

  it('writes the next batch while failed rows are retried, three at a time', async () => {
    const database = new Database();
    const group = commits(database);
    const all = Promise.all([1, 2, 3, 4].map((row) => group.add(row)));
    await settled();
    database.end(0, true);
    await settled();
    expect(database.attempts).toEqual([[1, 2, 3, 4], [1], [2], [3]]);
    const next = group.add(5);
    await settled();
    database.end(3);
    await next;
    while (database.writing > 0) {
      database.end();
      await settled();
    }
    await all;
  });

  it('continues after a failure', async () => {
    const database = new Database();
    const group = commits(database);
    const failing = group.add(1);
    await settled();
    database.end(0, true);
    await settled();
    database.end(0, true); // a row that was alone is tried once more too
    await expect(failing).rejects.toThrow('bad: 1');
    expect(database.attempts).toEqual([[1], [1]]);
    const next = group.add(2);
    await settled();
    database.end();
    await next;
  });

  it('continues after a write that throws before it begins', async () => {
    let throws = true;
    const write = () => {
      if (throws) throw new Error('too long');
      return Promise.resolve();
    };
    const group = new GroupCommit<number>(write, () => 1, 10);
    await expect(group.add(1)).rejects.toThrow('too long');
    const both = await Promise.allSettled([group.add(1), group.add(2)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    throws = false;
    await group.add(3);
  });

  it('respects the maximum weight of a batch, and writes a heavier row alone', async () => {
    const database = new Database();
    const group = commits(database, 10, (row) => row);
    const all = Promise.all([4, 6, 1, 99, 5].map((row) => group.add(row)));
    for (let batch = 0; batch < 4; batch += 1) {
      await settled();
      database.end();
    }
    await all;
    expect(database.attempts).toEqual([[4, 6], [1], [99], [5]]);
  });

  it('settles every row exactly once, according to its commit, whatever fails when', async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constant({ does: 'ask' as const }) },
      fc.record({ does: fc.constant('end' as const), place: fc.nat(5), fails: fc.boolean() }),
      fc.constant({ does: 'wait' as const }),
    );
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      async (steps, max) => {
        const isBad = (row: number) => row % 5 === 3;
        const database = new Database(isBad);
        const group = commits(database, max);
        const settlements: string[][] = [];
        const end = (place: number, fails: boolean) =>
          database.writing > 0 && database.end(place % database.writing, fails);
        for (const one of steps) {
          if (one.does === 'ask') {
            const own: string[] = [];
            const row = settlements.push(own) - 1;
            group.add(row).then(
              () => own.push('done'),
              () => own.push('failed'),
            );
          } else if (one.does === 'end') end(one.place, one.fails);
          else await settled();
        }
        do end(0, false);
        while ((await settled(), database.writing > 0));
        settlements.forEach((own, row) => {
          expect([row, own]).toEqual([row, [database.committed.includes(row) ? 'done' : 'failed']]);
          if (isBad(row)) expect(own).toEqual(['failed']);
        });
        expect(new Set(database.committed).size).toBe(database.committed.length);
        const together = database.attempts.filter((rows) => rows.length > 1).flat();
        expect(together).toEqual([...together].sort((a, b) => a - b));
      },
    );
    await fc.assert(property, { numRuns: runs(200) });
  });
});
