import { INestApplicationContext } from '@nestjs/common';
import { Client } from 'pg';
import { MayPay } from '../../../src/gateway/may-pay/may-pay.service';
import { StatusVocabulary } from '../../../src/operations/lifecycle/statuses';
import { SETTINGS, RunningConfig } from '../../../src/platform/config/config';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { BookService, Reading } from '../../../src/reconciliation/book/book.service';
import { connectForRun } from '../../../src/reconciliation/book/connection';
import { ContradictionsService } from '../../../src/reconciliation/book/contradictions.service';
import { settleByNews } from '../../../src/reconciliation/book/news-settlement';
import { PayoutNews } from '../../../src/reconciliation/book/payout-news';
import { first } from '../../support/examples/first';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { EQUAL_CALLS } from '../../support/reconciliation/attribution/example-worlds';
import {
  PlacedWorld,
  writeReading,
  writeWorlds,
} from '../../support/reconciliation/attribution/world-records';

const NOWHERE = 'http://127.0.0.1:9';

interface BookRow {
  id: string;
  call_id: string | null;
  read_id: string;
  ordinal: string;
}

describe('a settlement by a reading', () => {
  let proxy: TestProxy;
  let worker: INestApplicationContext;
  let db: Client;
  let accounts = 0;
  const start = Date.now() - 86_400_000;

  beforeAll(async () => {
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    proxy = await startProxy({ upstreamBaseUrl: NOWHERE, ...never });
    worker = await proxy.startWorker();
    db = await connectForRun({
      databaseUrl: proxy.database.url,
      databaseOwnerUrl: proxy.database.ownerUrl,
    });
  });
  afterAll(async () => {
    await db.end();
    await proxy.close();
  });

  /** Writes two equal calls, and a reading of their first transactions. */
  const read = async (rows: number): Promise<{ reading: Reading; placed: PlacedWorld }> => {
    const account = `account-${(accounts += 1)}`;
    const worlds = await writeWorlds(proxy.database, account, [EQUAL_CALLS], { start, showsIds: false });
    const placed = first(worlds);
    const listed = Array.from({ length: rows }, (_, index) => ({ placed, index }));
    const readId = await writeReading(proxy.database, account, listed, start);
    return { placed, reading: { account, readId, source: 'poll', isQuiet: () => true } };
  };
  const { signal } = new AbortController();
  const enter = (reading: Reading) => worker.get(BookService).enterWith(db, reading, signal);
  const book = ({ account }: Reading) =>
    proxy.database.query<BookRow>(
      'SELECT id, call_id, read_id, ordinal FROM book_transaction WHERE account = $1 ORDER BY ordinal',
      [account],
    );
  const ownersIn = async (reading: Reading) => (await book(reading)).map(({ call_id }) => call_id);
  const newsAbout = (
    { id, read_id, ordinal }: BookRow,
    callId: string,
    ground: string | null,
  ): PayoutNews => {
    const names = { upstream_ref: 'r', upstream_id: null, batch_ref: null, at: null };
    const transaction = { ...names, status: 'failed' };
    const place = { callId, position: 0, readId: read_id, ordinal };
    return { ...place, id, ground, status: 'failed', amount: '1', fee: null, transaction };
  };
  /** Takes a transaction from its payout. */
  const release = ({ id }: BookRow) =>
    proxy.database.query(
      `UPDATE book_transaction SET call_id = NULL, position = NULL, ground = NULL, attributed_at = NULL
       WHERE id = $1`,
      [id],
    );
  const settle = (reading: Reading, news: PayoutNews) =>
    worker
      .get(PrismaService)
      .$transaction((tx) =>
        settleByNews(
          tx,
          new Map([[news.callId, [news]]]),
          { ...reading, vocabulary: StatusVocabulary.with([]) },
          worker.get<RunningConfig>(SETTINGS),
        ),
      );

  it.each([
    ['gives a transaction away that has a payout', 1, 1, 'fingerprint'],
    ['gives a second transaction to a payout', 2, 0, 'fingerprint'],
    ['settles a payout by a transaction that is of another one', 1, 1, null],
  ])('never %s, if another process was first', async (_, rows, call, ground) => {
    const { reading, placed } = await read(rows);
    await enter(reading);
    expect(await ownersIn(reading)).toEqual(placed.ids.slice(0, rows));
    const last = first((await book(reading)).slice(-1));
    if (rows > 1) await release(last);
    const owners = await ownersIn(reading);
    const { settled } = await settle(reading, newsAbout(last, placed.ids[call] ?? '', ground));
    expect(settled).toEqual([]);
    expect(await ownersIn(reading)).toEqual(owners);
  });

  it.each([
    ['has entered', 0],
    ['has compared', 1],
  ])('is not written by a worker that is fenced after it %s the reading', async (_, allowed) => {
    const { reading, placed } = await read(2);
    const mayPay = worker.get(MayPay);
    const handle = jest.spyOn(worker.get(ContradictionsService), 'handle');
    let asked = 0;
    jest.spyOn(mayPay, 'require').mockImplementation(() => {
      if ((asked += 1) > allowed) throw new Error('fenced');
    });
    await expect(enter(reading)).rejects.toThrow('fenced');
    // It raises alarms and doubts. The job of the worker calls it too.
    expect(handle.mock.calls.filter(([of]) => of === signal)).toHaveLength(allowed);
    expect(await ownersIn(reading)).toEqual([null, null]);
    jest.restoreAllMocks();
    await enter(reading);
    expect(await ownersIn(reading)).toEqual(placed.ids);
  });
});
