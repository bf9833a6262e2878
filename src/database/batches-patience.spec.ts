import { setImmediate } from 'node:timers/promises';
import { Batches, GATHERING_TURNS } from './batches';
import { DatabaseTooSlow } from './patience';

/** A database that ends each write when told. */
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

describe('Batches with a patience', () => {
  let database: Database;
  let batches: Batches<number>;
  beforeEach(() => {
    database = new Database();
    batches = new Batches<number>(database.write, () => 1, 1_000, { patienceMs: 20 });
  });

  it('reject a row whose statement takes longer', async () => {
    await expect(batches.add(1)).rejects.toThrow(DatabaseTooSlow);
    expect(database.attempts).toEqual([[1]]);
  });

  it('never write a row that was rejected while it waited', async () => {
    const first = batches.add(1);
    await settled();
    const rows = [first, batches.add(2), batches.add(3)];
    await Promise.all(rows.map((row) => expect(row).rejects.toThrow(DatabaseTooSlow)));
    database.open[0]?.end();
    await settled();
    expect(database.attempts.flat().filter((row) => row > 1)).toEqual([]);
  });

  it('do not try a row again that was rejected before its statement failed', async () => {
    await expect(batches.add(1)).rejects.toThrow(DatabaseTooSlow);
    database.open[0]?.fail();
    await settled();
    expect(database.attempts).toEqual([[1]]);
  });

  it('write the next rows while a statement is still on its way', async () => {
    await expect(batches.add(1)).rejects.toThrow(DatabaseTooSlow);
    await settled();
    const next = batches.add(2);
    while (database.open.length < 2) await settled();
    database.open[1]?.end();
    await next;
  });
});
