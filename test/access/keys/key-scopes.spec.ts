import { namedObjectOf, scopesOf } from '../../../src/operations/catalogue/catalogue';
import { Scope, SCOPES } from '../../../src/operations/catalogue/scopes';
import { askAs, DOCUMENTED, OBSERVED } from '../../support/http/interface';
import { answer, FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const CALLS = '/v1/audit/calls';

describe('the scopes of a key', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  const keys = new Map<Scope, string>();

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    // the list that decides the owner of a transaction
    upstream.behaviour = answer(200, { status: 'success', data: [] });
    for (const scope of SCOPES)
      keys.set(scope, (await proxy.client(`only-${scope.replace(':', '-')}`, scope)).key);
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  it.each([...DOCUMENTED, ...OBSERVED])(
    'include the scope of the effect for $operation, whatever the other scopes',
    async (request) => {
      const needed = scopesOf(request.operation);
      for (const [scope, key] of keys) {
        const sentBefore = upstream.received.length;
        const response = await askAs(proxy, key, request);
        const suffices = needed.length === 1 && scope === needed[0];
        // The key may use the operation, but the transaction in the request is unknown.
        const isNotFound = suffices && namedObjectOf(request.operation) !== undefined;
        expect([scope, response.status]).toEqual([scope, isNotFound ? 404 : suffices ? 200 : 403]);
        if (isNotFound) continue;
        expect(upstream.received.length - sentBefore).toBe(suffices ? 1 : 0);
        if (!suffices) {
          expect(response.body).toMatchObject({ status: 'error', code: 'scope_missing' });
          expect(response.body.error).toContain(
            `the scope ${needed.join(' and the scope ')}. Your key has ${scope}`,
          );
        }
      }
    },
  );

  it('include `read` and `account` for POST /wallets/list, as for GET', async () => {
    const { key } = await proxy.client('whole-account', 'read', 'account');
    await proxy.post(key, '/wallets/list', {}).expect(200);
    await proxy.post(keys.get('read') ?? '', '/wallets/list', {}).expect(403);
    await proxy.post(keys.get('account') ?? '', '/wallets/list', {}).expect(403);
  });

  it('include `audit` for the history, and an interface scope for own calls', async () => {
    const id = '01a1fb98-53b1-7069-a17f-af1e8cacb634';
    for (const [scope, key] of keys) {
      const interfaceScope = ['pay', 'write', 'read'].includes(scope);
      const statuses = [];
      for (const path of [CALLS, `${CALLS}/${id}`, `/v1/calls/${id}`])
        statuses.push((await proxy.get(key, path)).status);
      expect([scope, ...statuses]).toEqual([
        scope,
        ...(scope === 'audit' ? [200, 404] : [403, 403]),
        interfaceScope ? 404 : 403,
      ]);
    }
    const { body } = await proxy.get(keys.get('audit:pii') ?? '', CALLS).expect(403);
    expect(body).toMatchObject({ type: 'about:blank', status: 403, code: 'scope_missing' });
  });

  it('record a refused request without its body', async () => {
    const { headers } = await proxy
      .post(keys.get('read') ?? '', '/send', { description: 'lovelace' })
      .expect(403);
    const { body } = await proxy.get(keys.get('audit') ?? '', `${CALLS}/${headers['x-call-id']}`).expect(200);
    expect(body).toMatchObject({
      outcome: 'refused',
      operation: 'POST /send',
      client: { name: 'only-read' },
      refusal: { status: 403, code: 'scope_missing', errors: [] },
    });
    expect(JSON.stringify(body)).not.toContain('lovelace');
  });
});
