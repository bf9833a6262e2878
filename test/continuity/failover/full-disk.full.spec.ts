import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FillableDatabase,
  likeOnSmallDisk,
  mayMount,
  startPostgresOnSmallDisk,
} from '../../support/databases/full-disk';
import supertest from '../../support/http/supertest';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { airtime, eventually, phones } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const MEGABYTE = 1_048_576;

/** Apps that pay one after another. */
const APPS = 24;

/** Longer than anything else of a payment takes, so that many are under way when the disk is full. */
const UPSTREAM_MS = 100;

const KINDS: [string, () => Promise<FillableDatabase>][] = [
  ['as its triggers say', likeOnSmallDisk],
  ...(mayMount()
    ? ([['on a small file system', startPostgresOnSmallDisk]] as [string, () => Promise<FillableDatabase>][])
    : []),
];

describe.each(KINDS)('a database with a full disk, %s', (_how, startDatabase) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-full-'));
  let small: FillableDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let app: string;
  let auditor: string;

  beforeAll(async () => {
    small = await startDatabase();
    upstream = await FakeUpstream.start();
    upstream.behaviour = async (...asked) => {
      await sleep(UPSTREAM_MS);
      succeed(...asked);
    };
    const settings = { upstreamBaseUrl: upstream.url, dataDir, databaseReserveBytes: 16 * MEGABYTE };
    proxy = await startProxy(settings, small.database);
    app = (await proxy.client('app', 'pay', 'read')).key;
    auditor = (await proxy.client('auditor', 'audit')).key;
  });
  afterAll(async () => {
    await upstream.stop();
    await proxy.close();
    await small.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const all = phones(100_000);
  let paid = 0;
  const pay = (key = `order-${(paid += 1)}`, phone = all[Number(key.split('-')[1])] ?? '') =>
    proxy.post(app, '/payouts/airtime', airtime(phone)).set('Idempotency-Key', key);
  const metric = async (name: string) => {
    const text = await (await fetch(`${proxy.url}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    );
  };
  const FULL = 'payout_proxy_storage_failing{place="database",cause="disk_full"}';
  const files = (folder: string) =>
    existsSync(join(dataDir, folder)) ? readdirSync(join(dataDir, folder)) : [];
  const count = async (sql: string) => Number((await small.database.query<{ count: string }>(sql))[0]?.count);

  it('reserves space in advance', async () => {
    await eventually(async () => (await metric('payout_proxy_space_reserve_bytes')) >= 16 * MEGABYTE);
    expect(await metric(FULL)).toBe(0);
  });

  it('responds to every sent payment, and refuses the others before sending', async () => {
    const answers: { status: number; code: unknown; retryAfter: unknown }[] = [];
    let isOver = false;
    const paying = Array.from({ length: APPS }, async () => {
      while (!isOver) {
        const { status, body, headers } = await pay();
        answers.push({ status, code: body.code, retryAfter: headers['retry-after'] });
        if (status !== 200) await sleep(20);
      }
    });
    await eventually(() => answers.filter(({ status }) => status === 200).length > 2 * APPS);
    await small.fill();
    await eventually(() => answers.filter(({ status }) => status === 503).length > 4 * APPS);
    isOver = true;
    await Promise.all(paying);
    const refused = answers.filter(({ status }) => status !== 200);
    expect([
      ...new Set(
        refused.map(({ status, code, retryAfter }) => `${status} ${String(code)} ${String(retryAfter)}`),
      ),
    ]).toEqual(['503 storage_full 30']);
    expect(upstream.received).toHaveLength(answers.length - refused.length);
    expect(await count(`SELECT count(*) FROM outcome WHERE kind = 'succeeded'`)).toBe(
      upstream.received.length,
    );
    expect(await metric(FULL)).toBe(1);
    expect(await metric('payout_proxy_unrecorded_outcomes')).toBe(0);
    expect(await metric('payout_proxy_space_reserve_bytes')).toBe(0);
    const { body } = await proxy.get('', '/readyz').expect(503);
    expect((body as { detail?: string }).detail).toContain('database disk_full: ');
  });

  it('shows the history, spools the accesses, and replays responses', async () => {
    const replay = await pay('order-1').expect(200);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    const first =
      (await small.database.query<{ id: string }>('SELECT id FROM intent ORDER BY id LIMIT 1'))[0]?.id ?? '';
    await proxy.get(app, `/v1/calls/${first}`).expect(200);
    await proxy.get(auditor, `/v1/audit/calls/${first}`).expect(200);
    expect(files('accesses')).toHaveLength(1);
    expect(await count('SELECT count(*) FROM access')).toBe(0);
    expect(await metric('payout_proxy_spooled_accesses')).toBe(1);
  });

  it('serves search, export and previews, but sends no upstream reads', async () => {
    const reads: [string, string][] = [
      ...['/v1/calls', '/v1/limits'].map((path): [string, string] => [app, path]),
      ...['/v1/audit/calls', '/v1/audit/summary', '/v1/audit/export?format=ndjson', '/v1/overview'].map(
        (path): [string, string] => [auditor, path],
      ),
    ];
    for (const [key, path] of reads) {
      const { status } = await fetch(proxy.url + path, { headers: { 'x-api-key': key } });
      expect([path, status]).toEqual([path, 200]);
    }
    const preview = supertest(proxy.url).post('/v1/preview/payouts/airtime').set('X-API-Key', app);
    const { body } = await preview.send(airtime(all.at(-1) ?? '')).expect(200);
    expect(body).toMatchObject({ would: 'be_refused', refusal: { code: 'storage_full' } });
    const sent = upstream.received.length;
    await proxy.get(app, '/api/v0.1/info/airtime-countries').expect(503, /storage_full/);
    expect(upstream.received).toHaveLength(sent);
  });

  it('accepts payments again without a restart, and records the spooled data', async () => {
    const kept = files('accesses').length;
    await small.free();
    await eventually(async () => (await pay()).status === 200);
    expect(await metric(FULL)).toBe(0);
    expect(await metric('payout_proxy_space_reserve_bytes')).toBeGreaterThanOrEqual(16 * MEGABYTE);
    await eventually(async () => (await count('SELECT count(*) FROM access')) === kept);
    await eventually(() => files('accesses').length === 0);
    await eventually(async () => (await metric('payout_proxy_refusals_waiting')) === 0);
    const [access] = await small.database.query(
      'SELECT route, call_id IS NOT NULL AS named, read_at < now() AS before FROM access ORDER BY id LIMIT 1',
    );
    expect(access).toEqual({ route: 'GET /v1/audit/calls/:id', named: true, before: true });
    expect(await count(`SELECT count(*) FROM refusal WHERE code = 'storage_full'`)).toBeGreaterThan(4 * APPS);
    expect(
      await count(
        'SELECT count(*) FROM intent i WHERE NOT EXISTS (SELECT FROM outcome WHERE intent_id = i.id) ' +
          'AND NOT EXISTS (SELECT FROM refusal r WHERE r.id = i.id)',
      ),
    ).toBe(0);
  });
});
