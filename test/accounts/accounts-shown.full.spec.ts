import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientsService } from '../../src/access/clients/clients.service';
import { Secret } from '../../src/platform/config/secrets/secret';
import { runCli } from '../support/processes/cli';
import { startProxy, TestProxy } from '../support/processes/proxy';
import { asText, linesOf, readCsv } from '../support/records/export-files';
import { airtime, startSandbox, TestSandbox, API_KEY } from '../support/sandbox/sandbox';

const EVENTS_SECRET = 'whsec_an-event-secret-that-is-never-shown';

/** Two accounts at one upstream, and a client of an account that this instance does not know. */
describe('upstream accounts', () => {
  let sandbox: TestSandbox;
  let proxy: TestProxy;
  let kenyaKey = '';
  const keys: Record<string, string> = {};
  const calls: Record<string, string> = {};

  beforeAll(async () => {
    sandbox = await startSandbox();
    const opened = await sandbox
      .control('post', '/accounts', { name: 'Kenya', openingBalance: 100 })
      .expect(201);
    kenyaKey = opened.body.apiKey;
    const kenya = {
      name: 'kenya',
      baseUrl: undefined,
      apiKey: new Secret(kenyaKey),
      webhookSecret: new Secret(EVENTS_SECRET),
      subAccount: undefined,
      wallet: undefined,
      fees: new Map<string, string>(),
    };
    const upstreamApiKey = new Secret(API_KEY);
    proxy = await startProxy({ upstreamBaseUrl: sandbox.url, upstreamApiKey, namedAccounts: [kenya] });
    const clients = proxy.app.get(ClientsService, { strict: false });
    keys.shop = (await proxy.client('shop', 'pay')).key;
    keys.kiosk = (await clients.create('kiosk', ['pay'], { account: 'kenya' })).key;
    keys.stall = (await clients.create('stall', ['pay'], { account: 'uganda' })).key;
    keys.desk = (await proxy.client('desk', 'admin', 'audit')).key;
    const pay = async (who: string, body: object, status: number) => {
      const { headers } = await proxy.post(keys[who] ?? '', '/payouts/airtime', body).expect(status);
      return headers['x-call-id'] ?? '';
    };
    calls.shop = await pay('shop', airtime(1), 200);
    calls.kiosk = await pay('kiosk', airtime(2), 200);
    calls.refused = await pay('kiosk', { airtimes: [] }, 400);
    calls.stall = await pay('stall', airtime(3), 503);
  });
  afterAll(async () => {
    await proxy.close();
    await sandbox.close();
  });

  const read = <const Path extends string>(path: Path) => proxy.get(keys.desk ?? '', path);
  const found = async (query: string) => {
    const { body } = await read(`/v1/audit/calls?${query}`).expect(200);
    return body.calls.map(({ id, account }) => [id, account]);
  };

  it('are listed with their state, unconfigured ones last', async () => {
    const { body } = await read('/v1/accounts').expect(200);
    const time = expect.any(String);
    const same = {
      base_url: sandbox.url,
      sub_account: null,
      wallet: null,
      open_circuits: [],
      last_failure_at: null,
    };
    const main = {
      name: 'main',
      configured: true,
      accepts_events: false,
      clients: 2,
      last_answered_at: time,
    };
    const kenya = {
      name: 'kenya',
      configured: true,
      accepts_events: true,
      clients: 1,
      last_answered_at: time,
    };
    const uganda = {
      name: 'uganda',
      configured: false,
      accepts_events: false,
      clients: 1,
      last_answered_at: null,
    };
    expect(body.accounts).toEqual([
      { ...same, ...main },
      { ...same, ...kenya },
      { ...same, ...uganda, base_url: null },
    ]);
  });

  it('are shown without keys and secrets', async () => {
    for (const path of ['/v1/accounts', '/v1/overview'] as const) {
      const text = JSON.stringify((await read(path).expect(200)).body);
      for (const secret of [API_KEY, kenyaKey, EVENTS_SECRET]) expect(text).not.toContain(secret);
    }
  });

  it('appear in the overview with their state', async () => {
    const { body } = await read('/v1/overview').expect(200);
    expect(body.upstream).toEqual([
      { account: 'main', open_circuits: [], last_answered_at: expect.any(String), last_failure_at: null },
      { account: 'kenya', open_circuits: [], last_answered_at: expect.any(String), last_failure_at: null },
    ]);
  });

  it('filter calls, payouts and sums by the account of the client', async () => {
    expect(await found('account=main')).toEqual([[calls.shop, 'main']]);
    expect(await found('account=kenya')).toEqual([
      [calls.refused, 'kenya'],
      [calls.kiosk, 'kenya'],
    ]);
    expect(await found('account=uganda')).toEqual([[calls.stall, 'uganda']]);
    expect(await found('account=tanzania')).toEqual([]);
    expect(await found('account=kenya&client=kiosk')).toHaveLength(2);
    expect(await found('account=main&client=kiosk')).toEqual([]);
    const { body: payouts } = await read('/v1/audit/items?account=kenya').expect(200);
    expect(payouts.items.map(({ id, account, item }) => [id, account, item.amount_usd])).toEqual([
      [calls.kiosk, 'kenya', '2'],
    ]);
    const { body: sum } = await read('/v1/audit/summary?account=kenya&group_by=client').expect(200);
    expect(sum.groups.map(({ name, calls: count, asked_usd: usd }) => [name, count, usd])).toEqual([
      ['kiosk', 2, '2'],
    ]);
  });

  it('appear in the record of each call, also for its app', async () => {
    const shown = [];
    for (const id of Object.values(calls))
      shown.push((await read(`/v1/audit/calls/${id}`).expect(200)).body.account);
    expect(shown).toEqual(['main', 'kenya', 'kenya', 'uganda']);
    const { body } = await proxy.get(keys.kiosk ?? '', '/v1/calls').expect(200);
    expect(body.calls.map(({ account }) => account)).toEqual(['kenya', 'kenya']);
  });

  it('appear in exports, and filter them', async () => {
    const lines = async (query: string) => {
      const { body } = await read(`/v1/audit/export?format=ndjson&${query}`)
        .buffer(true)
        .parse(asText)
        .expect(200);
      return linesOf(body).map(({ client, account }) => [client, account]);
    };
    expect(await lines('what=calls')).toEqual([
      ['shop', 'main'],
      ['kiosk', 'kenya'],
      ['kiosk', 'kenya'],
      ['stall', 'uganda'],
    ]);
    expect(await lines('what=items&account=kenya')).toEqual([['kiosk', 'kenya']]);
    const { text } = await read('/v1/audit/export?format=csv&account=kenya').expect(200);
    expect(readCsv(text).map(({ account }) => account)).toEqual(['kenya', 'kenya']);
  });

  it('appear in the auditor views', async () => {
    const rows = await proxy.database.query(
      'SELECT name, account FROM audit.clients WHERE name IN ($1, $2) ORDER BY 1',
      ['kiosk', 'shop'],
    );
    expect(rows).toEqual([
      { name: 'kiosk', account: 'kenya' },
      { name: 'shop', account: 'main' },
    ]);
  });

  it('are listed by a command, which queries the proxy', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-accounts-'));
    const file = join(dir, 'key');
    writeFileSync(file, keys.desk ?? '');
    const cli = (...args: string[]) =>
      runCli(['accounts', 'list', ...args, '--url', proxy.url, '--key-file', file], { DATA_DIR: dir }, dir);
    const { stdout, code } = await cli();
    expect([code, stdout.split('\n').map((line) => line.split(/ +/).slice(0, 3))]).toEqual([
      0,
      [
        ['name', 'configured', 'clients'],
        ['main', 'true', expect.any(String)],
        ['kenya', 'true', '1'],
        ['uganda', 'false', '1'],
        [''],
      ],
    ]);
    const listed = JSON.parse((await cli('--json')).stdout) as object;
    expect(listed).toEqual((await read('/v1/accounts').expect(200)).body);
    rmSync(dir, { recursive: true });
  });

  it.each(['reconcile', 'audit'] as const)('are shown to the scope %s', async (scope) => {
    const { key } = await proxy.client(`only-${scope}`, scope);
    await proxy.get(key, '/v1/accounts').expect(200);
  });

  it.each(['pay', 'account', 'approve'] as const)('are hidden from the scope %s', async (scope) => {
    const { key } = await proxy.client(`only-${scope}`, scope);
    expect((await proxy.get(key, '/v1/accounts').expect(403)).body.code).toBe('scope_missing');
  });
});
