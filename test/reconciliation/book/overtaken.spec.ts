import { INestApplicationContext } from '@nestjs/common';
import { Client } from 'pg';
import { MayPay } from '../../../src/gateway/may-pay/may-pay.service';
import { IndexService } from '../../../src/history/search/index.service';
import { StatusVocabulary } from '../../../src/operations/lifecycle/statuses';
import { SETTINGS, RunningConfig } from '../../../src/platform/config/config';
import { LOCKS } from '../../../src/platform/database/locks';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { BookService, Reading } from '../../../src/reconciliation/book/book.service';
import { ContradictionsService } from '../../../src/reconciliation/book/contradictions.service';
import { settleByNews } from '../../../src/reconciliation/book/news-settlement';
import { PayoutNews } from '../../../src/reconciliation/book/payout-news';
import { first } from '../../support/examples/first';
import { TestProxy } from '../../support/processes/proxy';
import { BookScene } from '../../support/reconciliation/attribution/book-scene';
import { EQUAL_CALLS, REFUTED_ANSWER } from '../../support/reconciliation/attribution/example-worlds';
import { PlacedWorld } from '../../support/reconciliation/attribution/world-records';

interface BookRow {
  id: string;
  call_id: string | null;
  read_id: string;
  ordinal: string;
}

describe('a settlement by a reading', () => {
  let scene: BookScene;
  let proxy: TestProxy;
  let worker: INestApplicationContext;

  beforeAll(async () => {
    scene = await BookScene.begin();
    ({ proxy, worker } = scene);
  });
  afterAll(() => scene.close());

  /** Writes a world, usually two equal calls, and a reading of its first transactions. */
  const read = async (
    rows: number,
    world = EQUAL_CALLS,
  ): Promise<{ reading: Reading; placed: PlacedWorld }> => {
    const { account, placed: worlds } = await scene.place([world]);
    const placed = first(worlds);
    const listed = Array.from({ length: rows }, (_, index) => ({ placed, index }));
    return { placed, reading: await scene.read(account, listed) };
  };
  const connect = async () => {
    const client = new Client({ connectionString: proxy.database.ownerUrl });
    await client.connect();
    return client;
  };
  const enter = (reading: Reading) => scene.enter(reading);
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
    expect(handle.mock.calls.filter(([of]) => of === scene.signal)).toHaveLength(allowed);
    expect(await ownersIn(reading)).toEqual([null, null]);
    jest.restoreAllMocks();
    await enter(reading);
    expect(await ownersIn(reading)).toEqual(placed.ids);
  });

  it('stays if an answer that names its transaction is entered at the same time', async () => {
    const { reading, placed } = await read(1, REFUTED_ANSWER);
    await enter(reading);
    expect(await ownersIn(reading)).toEqual(placed.ids);
    const transaction = first(await book(reading));
    await release(transaction);
    const [settling, entering] = await Promise.all([connect(), connect()]);
    await settling.query('BEGIN');
    await settling.query(
      `UPDATE book_transaction SET call_id = $1, position = 0, ground = 'batch_ref', attributed_at = now()
       WHERE id = $2`,
      [placed.ids[0], transaction.id],
    );
    const entered = entering.query('SELECT enter_calls($1::uuid[]) AS "waitsForTheRow"', [placed.ids]);
    const isWaiting = `SELECT FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query LIKE '%waitsForTheRow%' AND pid <> pg_backend_pid()`;
    while ((await proxy.database.query(isWaiting)).length === 0);
    await settling.query('COMMIT');
    await entered;
    expect(await ownersIn(reading)).toEqual(placed.ids);
    await Promise.all([settling.end(), entering.end()]);
  });

  it('ends at once when the worker stops, even while it waits for another process', async () => {
    const { reading } = await read(1);
    await worker.get(IndexService).catchUp(); // It takes the lock, too.
    const holding = await connect();
    await holding.query(`SELECT pg_advisory_lock(${LOCKS.book})`);
    const stop = new AbortController();
    const entered = worker.get(BookService).enter(reading, stop.signal);
    const isWaiting = `SELECT FROM pg_stat_activity WHERE wait_event = 'advisory'
      AND application_name = 'payout-proxy reconciliation'`;
    while ((await proxy.database.query(isWaiting)).length === 0);
    stop.abort();
    // Not the timeout of the lock.
    await expect(entered).rejects.toThrow('Connection terminated');
    await holding.end();
    expect(await ownersIn(reading)).toEqual([]);
  });
});
