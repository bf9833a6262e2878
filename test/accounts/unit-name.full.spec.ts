import { createSandbox } from '../../src/sandbox/app';
import { createTestDatabase } from '../support/databases/test-database';
import { dataOf, InterfaceClient } from '../support/http/interface-client';
import { answer, FakeUpstream } from '../support/network/fake-upstream';
import { startProxy, TestProxy, UPSTREAM_KEY } from '../support/processes/proxy';

/** The provider's unit is `points`. Apps and records see only the interface's `credit`. */
describe('a provider with its own name for the interface credit', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let app: string;
  let auditor: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, upstreamUnitName: 'points' });
    app = (await proxy.client('app', 'pay', 'write', 'read', 'account')).key;
    auditor = (await proxy.client('auditor', 'audit', 'audit:pii')).key;
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const items = [{ valueInUSD: 0.1, email: 'credit@example.com' }];
  const transaction = {
    chiRef: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11',
    valueInUSD: 0.1,
    email: 'credit@example.com',
  };

  it.each([
    ['/send', { credit: items, description: 'credit' }, '/send', { points: items, description: 'credit' }],
    ['/payouts/credit', { credits: items }, '/payouts/points', { pointss: items }],
    [
      '/payouts/initiate-credit',
      { credits: items, description: 'credit' },
      '/payouts/initiate-points',
      { pointss: items, description: 'credit' },
    ],
    ['/payouts/airtime', airtime(), '/payouts/airtime', airtime()],
  ])('is addressed with its own name: %s', async (path, body, theirPath, theirBody) => {
    upstream.behaviour = answer(200, { status: 'success', data: {} });
    const { headers } = await proxy.post(app, path, body).expect(200);
    const { url, body: sent } = upstream.received.at(-1) ?? {};
    expect([url, sent]).toEqual([`/api/v0.1${theirPath}`, JSON.stringify(theirBody)]);
    const { body: record } = await proxy.get(auditor, `/v1/audit/calls/${headers['x-call-id']}`).expect(200);
    expect(record.operation).toBe(`POST ${path}`);
    expect(record.request?.body).toEqual(body);
  });

  it('has its name translated everywhere in its response, for the app and the record', async () => {
    const theirs = {
      status: 'success',
      data: { pointss: [{ ...transaction, points: 100, type: 'points' }] },
    };
    upstream.behaviour = answer(200, theirs);
    const { body, headers } = await proxy.post(app, '/payouts/credit', { credits: items }).expect(200);
    const ours = { status: 'success', data: { credits: [{ ...transaction, credit: 100, type: 'points' }] } };
    expect(body).toEqual(ours);
    const { body: record } = await proxy.get(auditor, `/v1/audit/calls/${headers['x-call-id']}`).expect(200);
    expect(record.response?.body).toEqual(ours);
    expect(record.items[0]?.upstream?.upstream_ref).toBe(transaction.chiRef);
  });

  it.each([
    ['airtime', [], "UPSTREAM_UNIT_NAME must be the provider's own word"],
    ['momo', [], "UPSTREAM_UNIT_NAME must be the provider's own word"],
    ['data', [], "UPSTREAM_UNIT_NAME must be the provider's own word"],
    ['coin', ['coins'], 'EXTRA_FIELDS_ALLOWED must not name coins'],
    ['credit', ['credits'], 'EXTRA_FIELDS_ALLOWED must not name credits'],
  ])('cannot use an ambiguous name: %s, %j', async (upstreamUnitName, extraFieldsAllowed, text) => {
    const settings = { upstreamBaseUrl: upstream.url, upstreamUnitName, extraFieldsAllowed };
    await expect(startProxy(settings, proxy.database)).rejects.toThrow(text);
  });
});

it('works with a sandbox that uses the same name', async () => {
  const database = await createTestDatabase();
  const settings = { databaseUrl: database.sandboxUrl, port: 0, apiKey: UPSTREAM_KEY, unitName: 'points' };
  const sandbox = await createSandbox(settings);
  const proxy = await startProxy({ upstreamBaseUrl: sandbox.url, upstreamUnitName: 'points' }, database);
  const client = new InterfaceClient(
    proxy.url,
    (await proxy.client('app', 'pay', 'write', 'read', 'account')).key,
  );
  const credits = [{ email: 'credit@example.com', valueInUSD: 0.5 }];
  const { data } = dataOf('POST /payouts/credit', await client.payOutCredit(credits));
  expect(data).toMatchObject([{ email: 'credit@example.com', credit: 500, status: 'paid' }]);
  expect(dataOf('POST /send', await client.send(credits))).toMatchObject({ paymentLink: expect.any(String) });
  expect(dataOf('POST /payouts/initiate-credit', await client.initiateCredit(credits)).data).toMatchObject([
    { credit: 500, status: 'unpaid' },
  ]);
  const direct = new InterfaceClient(sandbox.url, UPSTREAM_KEY);
  expect((await direct.payOutCredit(credits)).status).toBe(404);
  await proxy.close();
  await sandbox.close();
  await database.close();
});

function airtime() {
  return { airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1 }] };
}
