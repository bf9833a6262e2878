import { Client } from 'pg';
import { ProcessService } from '../../src/continuity/fence/process.service';
import { LOCKS } from '../../src/platform/database/locks';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { FakeUpstream, succeed } from '../support/network/fake-upstream';
import { AIRTIME, eventually } from '../support/payments/paying';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** Owner of a call, and whether that process is alive. */
describe('a process number', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    proxy = await start();
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
    await database.close();
  });

  const start = () => startProxy({ upstreamBaseUrl: upstream.url }, database);
  const numberOf = ({ app }: TestProxy) => app.get(ProcessService).number;
  const live = async () => {
    const rows = await database.query<{ number: number }>('SELECT live_processes() AS number ORDER BY 1');
    return rows.map(({ number }) => number);
  };
  const numbersOf = (...proxies: TestProxy[]) => proxies.map(numberOf).sort((a, b) => a - b);

  it('is unique, and alive until the process stops', async () => {
    const other = await start();
    expect(await live()).toEqual(numbersOf(proxy, other));
    expect(numberOf(proxy)).not.toBe(numberOf(other));
    await other.close();
    expect(await live()).toEqual(numbersOf(proxy));
  });

  it('is not reused after the database was restored to before its process began', async () => {
    const lost = await start();
    const number = numberOf(lost);
    await lost.close();
    await database.query('DELETE FROM process WHERE number = $1', [number]);
    const next = await start();
    await next.close();
    expect(numberOf(next)).not.toBe(number);
  });

  it('is alive until requests in flight are recorded', async () => {
    const stopping = await start();
    const { key } = await stopping.client('app', 'pay');
    const arrived = new Promise<() => void>((resolve) => {
      upstream.behaviour = (...args) => resolve(() => succeed(...args));
    });
    const answered = stopping.post(key, '/payouts/airtime', AIRTIME).expect(200).then();
    const release = await arrived;
    const server = stopping.app.getHttpServer();
    const closing = stopping.close();
    await eventually(() => Promise.resolve(!server.listening));
    expect(await live()).toEqual(numbersOf(proxy, stopping));
    release();
    await answered;
    await closing;
    expect(await live()).toEqual(numbersOf(proxy));
  });

  it('is locked again after its connection was lost, and known to a restored database', async () => {
    const other = await start();
    const number = numberOf(other);
    await database.query('DELETE FROM process WHERE number = $1', [number]);
    const holders = () =>
      database.query<{ pid: number }>(
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM " +
          'pg_database WHERE datname = current_database()) AND objid = $1',
        [number],
      );
    const [before] = await holders();
    await database.query('SELECT pg_terminate_backend($1)', [before?.pid]);
    await eventually(async () => (await holders()).some(({ pid }) => pid !== before?.pid));
    expect([await live(), numberOf(other)]).toEqual([numbersOf(proxy, other), number]);
    const known = () => database.query('SELECT FROM process WHERE number = $1', [number]);
    await eventually(async () => (await known()).length === 1);
    await other.close();
    expect(await live()).toEqual(numbersOf(proxy));
  });

  it('stays alive while another session holds it, and is locked again after that session', async () => {
    const number = numberOf(proxy);
    // Waits for the lock until its holder is gone.
    const other = new Client({ connectionString: database.url });
    await other.connect();
    const taken = other.query('SELECT pg_advisory_lock($1, $2)', [LOCKS.process, number]);
    const locks = (granted: boolean) =>
      database.query<{ pid: number }>(
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM " +
          'pg_database WHERE datname = current_database()) AND objid = $1 AND granted = $2',
        [number, granted],
      );
    await eventually(async () => (await locks(false)).length === 1);
    await database.query('SELECT pg_terminate_backend($1)', [(await locks(true))[0]?.pid]);
    await taken;
    expect([await live(), numberOf(proxy)]).toEqual([[number], number]);
    const { rows } = await other.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await other.end();
    await eventually(async () => (await locks(true)).some(({ pid }) => pid !== rows[0]?.pid));
    expect([await live(), numberOf(proxy)]).toEqual([[number], number]);
  });
});
