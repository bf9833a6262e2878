import { createHash } from 'node:crypto';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const WALLETS = '/api/v0.1/wallets/list';
const CALLS = '/v1/audit/calls';
const PROBLEM = { type: 'about:blank', code: 'invalid_key', status: 401 };

describe('an API key', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let twin: TestProxy;
  let clients: ClientsService;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, trustedProxies: ['127.0.0.1'] }, database);
    twin = await startProxy({ upstreamBaseUrl: upstream.url }, database);
    clients = proxy.app.get(ClientsService, { strict: false });
  });
  afterAll(async () => {
    await proxy.close();
    await twin.close();
    await upstream.stop();
    await database.close();
  });

  /**
   * Each wrong key has its own address, because an address that sends many is shut out
   * (key-guessing.spec.ts).
   */
  let addresses = 0;

  async function expectDenied(key: string, code = 'invalid_key'): Promise<void> {
    const sentBefore = upstream.received.length;
    const address = `198.51.100.${++addresses}`;
    const withKey = <const Path extends string>(path: Path) => {
      const request = supertest(proxy.url).get(path).set('X-Forwarded-For', address);
      return key === '' ? request : request.set('X-API-Key', key);
    };
    const { body, headers } = await withKey(WALLETS)
      .expect(401)
      .expect('Content-Type', /^application\/json/);
    const action = code === 'missing_key' ? 'fix_request' : 'ask';
    expect(body).toEqual({
      status: 'error',
      error: expect.stringMatching(/key/),
      code,
      action,
      call_id: headers['x-call-id'],
    });
    for (const path of [CALLS, `/v1/calls/${headers['x-call-id']}`, `${CALLS}/x`, '/v1/nothing']) {
      const denied = await withKey(path)
        .expect(401)
        .expect('Content-Type', /^application\/problem\+json/);
      expect(denied.body).toMatchObject({ ...PROBLEM, code, call_id: denied.headers['x-call-id'] });
    }
    expect(upstream.received.length).toBe(sentBefore);
  }

  const expired = (key: string) =>
    database.query("UPDATE api_key SET expires_at = now() - interval '1 second' WHERE sha256 = $1", [
      sha256(key),
    ]);

  it('is required in X-API-Key, and the error for Authorization names the header', async () => {
    const { key } = await proxy.client('misplaced', 'read', 'account');
    const basic = Buffer.from(`${key}:`).toString('base64');
    for (const authorization of [
      `Bearer ${key}`,
      `bearer ${key}`,
      `DPoP ${key}`,
      `Token ${key}`,
      key,
      `Basic ${basic}`,
    ]) {
      const { body, headers } = await supertest(proxy.url)
        .get(WALLETS)
        .set('Authorization', authorization)
        .expect(401);
      expect(body).toMatchObject({
        code: 'invalid_token',
        action: 'fix_request',
        error: expect.stringContaining('X-API-Key'),
      });
      expect(JSON.stringify([body, headers])).not.toContain(key);
    }
  });

  it('is required, otherwise the error is missing_key', () => expectDenied('', 'missing_key'));

  it.each([
    'pp_shop_000000000000000000000000000000002t27yG',
    'x',
    'null',
    "' OR 1=1 --",
    'k'.repeat(8_000),
    'ключ',
  ])('is rejected if unknown: %s', (key) => expectDenied(Buffer.from(key).toString('latin1')));

  it('is rejected if truncated, extended, in another case or sent twice', async () => {
    const { key } = await proxy.client('nearly', 'read', 'account');
    for (const wrong of [
      key.slice(0, -1),
      `${key}x`,
      key.toUpperCase(),
      `${key}, ${key}`,
      key.split('_')[2] ?? '',
    ]) {
      await expectDenied(wrong);
    }
    await proxy.get(key, WALLETS).expect(200);
  });

  it('is rejected after its expiry only', async () => {
    const { key, name } = await proxy.client('expiring', 'read', 'account');
    const later = await clients.issueKey(name, { expiresAt: new Date(Date.now() + 3_600_000) });
    await expired(key);
    await expectDenied(key);
    await proxy.get(later.key, WALLETS).expect(200);
  });

  it('is rejected by every proxy from the first request after its revocation', async () => {
    const { key, name } = await proxy.client('revoked', 'read', 'account');
    await proxy.get(key, WALLETS).expect(200);
    await twin.get(key, WALLETS).expect(200);
    const [listed] = await clients.listKeys(name);
    await twin.app.get(ClientsService, { strict: false }).revokeKey(listed?.id ?? '');
    await twin.get(key, WALLETS).expect(401);
    await expectDenied(key);
  });

  it('overlaps its successor in a rotation, and both read the same calls', async () => {
    const { key: old, name } = await proxy.client('rotating', 'read', 'account');
    const { headers } = await proxy.get(old, WALLETS).expect(200);
    const { key: next } = await clients.issueKey(name);
    await proxy.get(old, WALLETS).expect(200);
    await proxy.get(next, WALLETS).expect(200);
    const [first] = await clients.listKeys(name);
    await clients.revokeKey(first?.id ?? '');
    await proxy.get(old, WALLETS).expect(401);
    await proxy.get(next, `/v1/calls/${headers['x-call-id']}`).expect(200);
    expect((await clients.listKeys(name)).map(({ state }) => state)).toEqual(['revoked', 'active']);
  });

  it('keeps its revocation time when it is revoked again', async () => {
    const { name } = await proxy.client('twice', 'read', 'account');
    const [{ id } = { id: '' }] = await clients.listKeys(name);
    const { revoked_at: first } = await clients.revokeKey(id);
    expect((await clients.revokeKey(id)).revoked_at).toEqual(first);
  });

  it.each(['', 'no-uuid', '01a1fb98-53b1-7069-a17f-af1e8cacb634'])(
    'returns an error for the revocation of an unknown key %j',
    (id) => expect(clients.revokeKey(id)).rejects.toThrow(/no key has the ID/),
  );

  it('is stored as SHA-256 with its last four characters, and records its use', async () => {
    const { key } = await proxy.client('kept', 'read', 'account');
    await proxy.get(key, WALLETS).expect(200);
    await proxy.post(key, '/send', { [key]: key }).expect(403);
    const tables = await database.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    );
    expect(tables.length).toBeGreaterThan(10);
    let rows = '';
    for (const { name } of tables) {
      const found = await database.query<{ row: string }>(`SELECT t::text AS row FROM "${name}" t`);
      rows += found.map(({ row }) => row).join('\n');
    }
    const random = key.split('_')[2] ?? '';
    expect(random).toMatch(/^[0-9A-Za-z]{38}$/);
    expect(rows).toContain(sha256(key).toString('hex'));
    for (const part of [key, random, random.slice(0, 8), Buffer.from(key).toString('hex')]) {
      expect(rows).not.toContain(part);
    }
    const [listed] = await clients.listKeys('kept');
    expect(listed?.hint).toBe(`pp_kept_…${key.slice(-4)}`);
    expect(JSON.stringify(await clients.list())).not.toContain(random);
  });
});

function sha256(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
