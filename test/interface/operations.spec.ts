import { ClientsService } from '../../src/access/clients/clients.service';
import { OPERATIONS } from '../../src/operations/catalogue/catalogue';
import { SCOPES } from '../../src/operations/catalogue/scopes';
import supertest from '../support/http/supertest';
import { startProxy, TestProxy } from '../support/processes/proxy';

describe('GET /v1/operations', () => {
  let proxy: TestProxy;

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
  });
  afterAll(() => proxy.close());

  it('lists all operations with their effect, and all scopes, for any key', async () => {
    const clients = proxy.app.get(ClientsService, { strict: false });
    for (const [index, scope] of SCOPES.entries()) {
      const { key } = await clients.create(`client-${index}`, [scope], { operations: ['POST /send'] });
      const { body } = await proxy.get(key, '/v1/operations').expect(200);
      expect(body.scopes).toEqual(SCOPES);
      expect(body.operations.map(({ operation }) => operation)).toEqual(Object.keys(OPERATIONS));
      expect(body.operations).toEqual(
        expect.arrayContaining([
          { operation: 'POST /payouts/airtime', effect: 'pay', scopes: ['pay'], documented: true },
          { operation: 'POST /send', effect: 'write', scopes: ['write'], documented: true },
          { operation: 'GET /info/assets', effect: 'read', scopes: ['read'], documented: false },
          { operation: 'GET /wallets/list', effect: 'read', scopes: ['read', 'account'], documented: true },
        ]),
      );
    }
  });

  it('requires a key', async () => {
    expect((await proxy.get('', '/v1/operations').expect(401)).body.code).toBe('missing_key');
  });

  it('lists as stoppable exactly the operations that pay or write', async () => {
    const { key } = await proxy.client('admin', 'admin');
    const { body } = await proxy.get(key, '/v1/operations').expect(200);
    for (const { operation, effect } of body.operations) {
      const { status } = await supertest(proxy.url)
        .post('/v1/stops')
        .set('X-API-Key', key)
        .send({ operation, reason: 'a test' });
      expect([operation, status]).toEqual([operation, effect === 'read' ? 400 : 201]);
    }
  });
});
