import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { OwnPostgres, startOwnPostgres } from '../../support/databases/own-postgres';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { airtime, eventually, phones } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** More than a proxy has. The last three are for superusers. */
const MAX_CONNECTIONS = 60;

const ORIGIN = { 'Sec-Fetch-Site': 'same-origin' };

describe('a degraded database', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-failures-'));
  const lines: [object, string][] = [];
  let postgres: OwnPostgres;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let app: string;
  let auditor: string;
  let cookie: string;
  let paid = '';

  beforeAll(async () => {
    for (const level of ['warn', 'error'] as const)
      jest
        .spyOn(Logger.prototype, level)
        .mockImplementation((...line: unknown[]) => void lines.push(line as [object, string]));
    postgres = await startOwnPostgres({ settings: [`max_connections=${MAX_CONNECTIONS}`] });
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, dataDir }, postgres.database);
    app = (await proxy.client('app', 'pay', 'read')).key;
    const client = await proxy.client('auditor', 'audit');
    auditor = client.key;
    await postgres.database.query('UPDATE client SET requests_per_minute = 1000 WHERE id = $1', [client.id]);
    const signedIn = await fetch(`${proxy.url}/v1/session`, {
      method: 'POST',
      headers: { 'X-API-Key': auditor },
    });
    cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    paid = String((await pay('order-1').expect(200)).headers['x-call-id']);
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await upstream.stop();
    await proxy.close();
    await postgres.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const query = (sql: string) => postgres.database.query(sql);
  const numbers = phones(101);
  const pay = (key: string) =>
    proxy
      .post(app, '/payouts/airtime', airtime(numbers[Number(key.split('-')[1])] ?? ''))
      .set('Idempotency-Key', key);
  const metrics = async () => (await fetch(`${proxy.url}/metrics`)).text();
  const failing = async (cause: string) =>
    (await metrics()).includes(`payout_proxy_storage_failing{place="database",cause="${cause}"} 1`);
  const spooled = () =>
    existsSync(join(dataDir, 'accesses')) ? readdirSync(join(dataDir, 'accesses')).length : 0;
  const accesses = () => query('SELECT FROM access');

  const raise = (state: string) =>
    query(`CREATE OR REPLACE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'fails' USING ERRCODE = '${state}'; END $$;
      CREATE TRIGGER fails BEFORE INSERT ON intent FOR EACH STATEMENT EXECUTE FUNCTION fails()`);
  const mend = () => query('DROP TRIGGER fails ON intent');

  describe('in read-only mode', () => {
    beforeAll(async () => {
      await query('ALTER SYSTEM SET default_transaction_read_only = on');
      await query('SELECT pg_reload_conf()');
      await eventually(() => failing('read_only'));
    });

    it.each([
      ['a payment', () => pay('order-2')],
      ['a read of the upstream', () => proxy.get(app, '/api/v0.1/info/assets')],
    ])('refuses %s with its own error code, and sends nothing', async (_what, ask) => {
      lines.length = 0;
      const { status, body, headers } = await ask();
      expect([status, (body as { code?: string }).code, headers['retry-after']]).toEqual([
        503,
        'database_read_only',
        '10',
      ]);
      expect(upstream.received).toHaveLength(1);
      expect(lines).toEqual([]); // it was told once
    });

    it('reports the cause and the remedy on /readyz', async () => {
      const { body } = await proxy.get('', '/readyz').expect(503);
      expect((body as { detail?: string }).detail).toMatch(
        /database read_only: .*default_transaction_read_only/,
      );
    });

    it('replays responses, and shows calls to their client', async () => {
      const { headers } = await pay('order-1').expect(200);
      expect(headers['idempotent-replayed']).toBe('true');
      await proxy.get(app, `/v1/calls/${paid}`).expect(200);
      await proxy.get(app, '/v1/calls?idempotency_key=order-1').expect(200);
    });

    it('shows the history to auditors, and spools their accesses to disk', async () => {
      const before = spooled();
      await proxy.get(auditor, `/v1/audit/calls/${paid}`).expect(200);
      const { headers } = await proxy.get(auditor, '/v1/audit/calls').expect(200);
      expect(headers['x-index-behind']).toBe('true'); // nothing was indexed before
      expect(spooled()).toBe(before + 2);
      expect(await accesses()).toEqual([]);
    });

    it('keeps console sessions, and starts none', async () => {
      const session = await fetch(`${proxy.url}/v1/session`, { headers: { cookie, ...ORIGIN } });
      expect(session.status).toBe(200);
      const started = await fetch(`${proxy.url}/v1/session`, {
        method: 'POST',
        headers: { 'X-API-Key': auditor },
      });
      expect([started.status, ((await started.json()) as { code: string }).code]).toEqual([
        503,
        'database_read_only',
      ]);
    });

    it('accepts payments again without a restart, and records the accesses', async () => {
      await query('ALTER SYSTEM RESET default_transaction_read_only');
      await query('SELECT pg_reload_conf()');
      await eventually(async () => (await pay('order-2')).status === 200);
      await eventually(async () => (await accesses()).length === 2 && spooled() === 0);
      await eventually(async () => !(await failing('read_only')));
    });
  });

  it.each([
    ['58030', 'io_error', 'storage_failing', '60', 'order-11'],
    ['XX001', 'io_error', 'storage_failing', '60', 'order-12'],
    ['53100', 'disk_full', 'storage_full', '30', 'order-13'],
  ])(
    'refuses payments while an insertion fails with SQLSTATE %s (%s)',
    async (state, cause, code, retryAfter, key) => {
      await raise(state);
      const got = await pay(key);
      await mend();
      expect([got.status, got.body.code, got.headers['retry-after']]).toEqual([503, code, retryAfter]);
      expect(await failing(cause)).toBe(true);
      expect(await metrics()).toMatch(
        new RegExp(`payout_proxy_storage_failures_total{place="database",cause="${cause}"} [1-9]`),
      );
      await eventually(async () => (await pay(key)).status === 200);
    },
  );

  it('refuses requests while other clients hold all connections, and recovers afterwards', async () => {
    const others: Client[] = [];
    const take = async () => {
      const client = new Client({ connectionString: postgres.database.url, application_name: 'taken' });
      client.on('error', () => undefined);
      const isTaken = await client.connect().then(
        () => true,
        () => false,
      );
      if (isTaken) others.push(client);
      return isTaken;
    };
    const ofTheProxy = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> 'taken'`;
    let got = await pay('order-20');
    for (let key = 21; got.body.code !== 'database_busy' && key < 100; key += 1) {
      await query(ofTheProxy);
      while (await take());
      got = await pay(`order-${key}`);
    }
    expect([got.status, got.body.code, got.headers['retry-after']]).toEqual([503, 'database_busy', '5']);
    expect(await failing('too_many_connections')).toBe(true);
    for (const client of others) await client.end();
    await eventually(async () => (await pay('order-100')).status === 200);
  });
});
