import type { Answer } from '../support/http/request';
import supertest from '../support/http/supertest';
import { FakeUpstream } from '../support/network/fake-upstream';
import { startProxy, TestProxy } from '../support/processes/proxy';

const WALLETS = '/api/v0.1/wallets/list';

/** Permitted networks of a client. */
describe('the address of a request', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let behind: TestProxy;
  let auditor: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    const trustedProxies = ['127.0.0.0/8', '10.0.0.0/8'];
    behind = await startProxy({ upstreamBaseUrl: upstream.url, trustedProxies }, proxy.database);
    auditor = (await proxy.client('auditor', 'audit')).key;
  });
  afterAll(async () => {
    await behind.close();
    await proxy.close();
    await upstream.stop();
  });

  /** Creates a client with these addresses. Returns its key. */
  async function from(name: string, addresses: string[]): Promise<string> {
    const { key } = await proxy.client(name, 'read', 'account');
    await proxy.database.query('UPDATE client SET addresses = $2 WHERE name = $1', [name, addresses]);
    return key;
  }
  const ask = ({ url }: TestProxy, key: string, forwardedFor: string) =>
    supertest(url).get(WALLETS).set({ 'X-API-Key': key, 'X-Forwarded-For': forwardedFor });
  const record = async ({ headers }: Answer) =>
    (await proxy.get(auditor, `/v1/audit/calls/${headers['x-call-id']}`).expect(200)).body;

  it('must be allowed by its client, and is otherwise rejected and recorded, with no body read', async () => {
    const key = await from('elsewhere', ['203.0.113.0/24', '2001:db8::/32']);
    const sentBefore = upstream.received.length;
    const refused = await proxy.get(key, WALLETS).expect(403);
    expect(refused.body).toMatchObject({ status: 'error', code: 'address_not_allowed' });
    // The error reveals nothing about body or scope.
    expect((await proxy.post(key, '/send', { x: 1 }).expect(403)).body.code).toBe('address_not_allowed');
    expect(upstream.received.length).toBe(sentBefore);
    expect(await record(refused)).toMatchObject({
      outcome: 'refused',
      client: { name: 'elsewhere' },
      client_address: '127.0.0.1',
      refusal: { status: 403, code: 'address_not_allowed' },
    });
    await proxy.get(await from('here', ['203.0.113.0/24', '127.0.0.1']), WALLETS).expect(200);
  });

  it('comes from X-Forwarded-For only if a trusted proxy sent it', async () => {
    const key = await from('forwarded', ['203.0.113.0/24']);
    await ask(proxy, key, '203.0.113.5').expect(403);
    expect(await record(await ask(behind, key, '203.0.113.5').expect(200))).toMatchObject({
      client_address: '203.0.113.5',
    });
  });

  it.each([
    ['the last untrusted one', '203.0.113.9, 198.51.100.3, 10.1.2.3', '198.51.100.3'],
    ['of IPv6', '2001:db8::9', '2001:db8::9'],
    ["the proxy's own, after an invalid entry", 'unknown', '127.0.0.1'],
    ["the proxy's own, after an entry with a port", '203.0.113.5:4711', '127.0.0.1'],
  ])('is %s: %s', async (_which, forwardedFor, address) => {
    const key = await from(`behind-${forwardedFor.replaceAll(/[^0-9a-z]+/g, '-')}`, []);
    expect(await record(await ask(behind, key, forwardedFor).expect(200))).toMatchObject({
      client_address: address,
    });
  });
});
