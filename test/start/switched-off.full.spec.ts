import { ClientsService } from '../../src/access/clients/clients.service';
import { OPERATION_NAMES as NAMES, sourceOf } from '../../src/operations/catalogue/catalogue';
import { askAs, DOCUMENTED, OBSERVED, startInterface, TestInterface } from '../support/http/interface';

const ALL = [...DOCUMENTED, ...OBSERVED];

/** A client may use a list of operations, or all of them. */
describe('disabled operations of a client', () => {
  let api: TestInterface;
  let clients: ClientsService;

  beforeAll(async () => {
    api = await startInterface();
    clients = api.proxy.app.get(ClientsService, { strict: false });
  });
  afterAll(() => api.close());

  it('are refused and recorded without being sent, and others are not', async () => {
    const { key } = await clients.create('no-observed', ['pay', 'write', 'read', 'account'], {
      operations: namesOf('documented'),
    });
    for (const asking of ALL) {
      const sentBefore = api.upstream.received.length;
      const { operation } = asking;
      const allowed = sourceOf(operation) === 'documented';
      const response = await askAs(api.proxy, key, asking);
      expect([operation, response.status]).toEqual([operation, allowed ? 200 : 403]);
      expect(api.upstream.received.length - sentBefore).toBe(allowed ? 1 : 0);
      if (allowed) continue;
      const callId = response.headers['x-call-id'] as string;
      const error = `Your client may not use ${operation}. Ask the operator to allow it.`;
      expect(response.body).toEqual({
        status: 'error',
        error,
        code: 'operation_not_allowed',
        action: 'ask',
        call_id: callId,
      });
      expect(await api.record(callId)).toMatchObject({
        operation,
        outcome: 'refused',
        client: { name: 'no-observed' },
        request: null,
        refusal: { status: 403, code: 'operation_not_allowed', detail: error, errors: [] },
      });
    }
  });

  it('default to none, stored as null', async () => {
    const [row] = await api.proxy.database.query("SELECT operations FROM client WHERE name = 'shop'");
    expect(row).toEqual({ operations: null });
    for (const asking of ALL) await api.ask(asking).expect(200);
  });

  it('take effect with the next request, as does their removal', async () => {
    const { key } = await clients.create('changing', ['read', 'account']);
    const ask = () => api.proxy.get(key, '/api/v0.1/wallets/list');
    await ask().expect(200);
    expect(await clients.update('changing', { operations: ['POST /send'] })).toMatchObject({
      name: 'changing',
      scopes: ['read', 'account'],
      operations: ['POST /send'],
      active_keys: 1,
    });
    expect((await ask().expect(403)).body.code).toBe('operation_not_allowed');
    await clients.update('changing', { operations: null });
    await ask().expect(200);
  });

  it('do not affect other routes: your own calls can be read', async () => {
    const { key } = await clients.create('reader', ['read', 'account'], {
      operations: ['GET /wallets/list'],
    });
    const { headers } = await api.proxy.get(key, '/api/v0.1/wallets/list').expect(200);
    await api.proxy.get(key, `/v1/calls/${headers['x-call-id']}`).expect(200);
    const { headers: other } = await api.proxy.get(key, '/api/v0.1/info/assets').expect(403);
    await api.proxy.get(key, `/v1/calls/${other['x-call-id']}`).expect(200);
  });

  it('cover both methods of an operation with two', async () => {
    const { key } = await clients.create('one-name', ['read', 'account'], {
      operations: ['GET /wallets/list'],
    });
    await api.proxy.post(key, '/wallets/list', {}).expect(200);
    await clients.update('one-name', { operations: ['GET /sub-account/list'] });
    await api.proxy.post(key, '/wallets/list', {}).expect(403);
  });

  it('cannot include all operations: the database rejects an empty list', async () => {
    await expect(clients.create('nothing', ['read', 'account'], { operations: [] })).rejects.toThrow(
      /must be allowed at least one operation/,
    );
    await expect(clients.update('shop', { operations: [] })).rejects.toThrow(/revoke its keys/);
    const emptied = api.proxy.database.query("UPDATE client SET operations = '{}' WHERE name = 'shop'");
    await expect(emptied).rejects.toThrow(/check constraint/);
  });

  it('are changed only for existing clients and existing scopes', async () => {
    await expect(clients.update('nobody', { operations: null })).rejects.toThrow(
      'no client has the name nobody',
    );
    await expect(clients.update('shop', { scopes: ['pay', 'gold'] })).rejects.toThrow('unknown scopes: gold');
    await expect(clients.update('shop', { scopes: [] })).rejects.toThrow('unknown scopes: (none given)');
    await clients.create('scoped', ['pay'], { operations: ['POST /send'] });
    expect(await clients.update('scoped', { scopes: ['read', 'read'] })).toMatchObject({
      scopes: ['read'],
      operations: ['POST /send'],
    });
  });

  function namesOf(source: string): string[] {
    return NAMES.filter((name) => sourceOf(name) === source);
  }
});
