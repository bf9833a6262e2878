import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { AT_START, ChangeRecords, ClientChange } from '../../../src/access/clients/changes';
import { SidePrisma } from '../../../src/platform/database/pools/side-prisma';
import supertest from '../../support/http/supertest';
import { runCli } from '../../support/processes/cli';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const CSV = '/v1/activity.csv';
const MANY = 2_345;

describe('the export of administrative acts', () => {
  const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-activity-'));
  let proxy: TestProxy;
  let admin: { id: string; key: string };
  let auditor: { id: string; key: string };

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
    admin = await proxy.client('admin', 'admin');
    auditor = await proxy.client('auditor', 'audit');
  });
  afterAll(async () => {
    await proxy.close();
    rmSync(dir, { recursive: true });
  });

  const download = async (query: string, key = auditor.key) =>
    await proxy.get(key, `${CSV}?${query}`).expect(200);
  const rowsOf = (csv: string, delimiter = ',') =>
    parse<Record<string, string>>(csv, { columns: true, bom: true, delimiter });
  const cli = (...args: string[]) => {
    const file = join(dir, 'key');
    writeFileSync(file, auditor.key);
    const asking = ['--url', proxy.url, '--key-file', file];
    return runCli(['audit', 'activity', ...args, ...asking], { DATA_DIR: dir }, dir);
  };

  it('contains author, action and both states, and no formulas', async () => {
    const ask = (method: 'post' | 'patch', path: string, body: object) =>
      supertest(proxy.url)[method](path).set('X-API-Key', admin.key).send(body);
    const made = await ask('post', '/v1/clients', {
      name: 'shop',
      scopes: ['pay'],
      daily_cap_usd: 10,
    }).expect(201);
    const shop = made.body as { id: string };
    const reason = '=HYPERLINK("x"), for +2348012345678';
    const lifted = await ask('patch', '/v1/clients/shop', { daily_cap_usd: '99.5', reason }).expect(200);

    const { text, headers } = await download('client=shop');
    expect(headers['content-disposition']).toBe('attachment; filename="payout-proxy-activity.csv"');
    expect(text.startsWith('\ufeffact_id,at,action,client,client_id,key_id,operation,before,after,')).toBe(
      true,
    );
    expect(text.endsWith('\r\n')).toBe(true);
    const rows = rowsOf(text);
    expect(rows.map(({ action }) => action)).toEqual(['limits_changed', 'key_issued', 'client_created']);
    expect(rows[0]).toEqual({
      act_id: expect.any(String),
      at: expect.stringMatching(/Z$/),
      action: 'limits_changed',
      client: 'shop',
      client_id: shop.id,
      key_id: '',
      operation: '',
      before: '{"daily_cap_usd":"10"}',
      after: '{"daily_cap_usd":"99.5"}',
      by_client: 'admin',
      by_client_id: admin.id,
      by_key_id: expect.any(String),
      by_actor: '',
      via: 'api',
      client_address: '127.0.0.1',
      request_id: lifted.headers['x-request-id'],
      call_id: lifted.headers['x-call-id'],
      reason: `'=HYPERLINK("x"), for +234••••5678`,
    });
    expect(rowsOf((await download('client=shop&delimiter=semicolon')).text, ';')).toEqual(rows);
    expect((await download('client=shop', admin.key)).text).toBe(text);
    expect(rowsOf((await download('client=shop&action=key_revoked')).text)).toEqual([]);
  });

  it('contains every act once, and its download is recorded', async () => {
    const changes = Array.from({ length: MANY }, (_, number): ClientChange => ({
      action: 'limits_changed',
      client: { id: auditor.id, name: 'auditor' },
      keyId: null,
      before: { max_items: number },
      after: { max_items: number + 1 },
    }));
    const records = proxy.app.get(ChangeRecords, { strict: false });
    const prisma = proxy.app.get(SidePrisma, { strict: false });
    await prisma.$transaction((tx) => records.record(tx, changes, AT_START));

    const query = 'client=auditor&action=limits_changed';
    const { text, headers } = await download(query);
    const rows = rowsOf(text);
    expect(rows).toHaveLength(MANY);
    expect(new Set(rows.map(({ after }) => after)).size).toBe(MANY);
    const [access] = await proxy.database.query('SELECT * FROM access WHERE id = $1', [headers['x-call-id']]);
    expect(access).toMatchObject({
      route: 'GET /v1/activity.csv',
      rows: MANY,
      revealed: false,
      filters: { client: 'auditor', action: 'limits_changed' },
    });

    const filters = ['--filter', 'client=auditor', '--filter', 'action=limits_changed'];
    expect(await cli('--csv', ...filters, '--out', 'activity.csv')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect(readFileSync(join(dir, 'activity.csv'), 'utf8')).toBe(text);
    expect(readdirSync(dir).filter((name) => name.endsWith('.partial'))).toEqual([]);
    expect((await cli('--csv', ...filters)).stdout).toBe(text);
  });

  it('requires the scope audit or admin, and takes the filters of the list', async () => {
    const other = await proxy.client('other', 'pay', 'read', 'reconcile', 'approve');
    await proxy.get(other.key, CSV).expect(403);
    for (const wrong of ['delimiter=tab', 'action=deleted', 'page_size=2', 'page_token=x'])
      await proxy.get(auditor.key, `${CSV}?${wrong}`).expect(400);
    expect(await cli('--out', 'never.csv')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--csv'),
    });
    expect(readdirSync(dir)).not.toContain('never.csv');
  });
});
