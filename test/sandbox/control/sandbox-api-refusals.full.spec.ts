import { rmSync, writeFileSync } from 'node:fs';
import { Secret } from '../../../src/platform/config/secrets/secret';
import supertest from '../../support/http/supertest';
import { startProxy } from '../../support/processes/proxy';
import { CONTROL_KEY, ROUTES, startSandboxApi, TestSandboxApi } from '../../support/sandbox/sandbox-api';

const AIRTIME = 'POST /payouts/airtime';
const PHONE = '+254712000017';

describe('the sandbox API', () => {
  let api: TestSandboxApi;

  beforeAll(async () => void (api = await startSandboxApi()));
  afterEach(() => api.expectNoSecrets());
  afterAll(() => api.close());

  it.each([
    [{}, ['/fault']],
    [{ fault: 'unheardOf' }, ['/fault']],
    [{ fault: 'delay', operation: 'POST /nothing', nth: 1.5, colour: 1 }, ['/colour', '/nth', '/operation']],
    [{ fault: 'delay', nth: 1, probability: 0.5 }, ['']],
    [{ fault: 'delay', seed: 1 }, ['']],
    [{ fault: 'delay', processed: false }, ['/processed']],
    [{ fault: 'delay', settings: { ms: -1, [PHONE]: 2 } }, [`/settings/${PHONE}`, '/settings/ms']],
    [{ fault: 'error500', settings: { ms: 1 } }, ['/settings/ms']],
  ])('rejects %j with the position of each fault', async (fault, pointers) => {
    const { body } = await api.ask('post', '/faults', fault).expect(400);
    expect(body.code).toBe('invalid_request');
    expect(body.errors?.map(({ pointer }) => pointer).sort()).toEqual(pointers);
    const { refusal } = await api.record(body.call_id);
    expect(refusal!.error_count).toBe(pointers.length);
    expect(JSON.stringify(refusal)).not.toContain(PHONE);
    expect((await api.look()).faults).toEqual([]);
  });

  it.each([
    [{}, ['/body', '/operation']],
    [{ operation: 'POST /redeem/airtime', body: {} }, ['/operation']],
    [{ operation: AIRTIME, body: [], idempotency_key: 'a b' }, ['/body', '/idempotency_key']],
  ])('rejects the sample %j', async (sample, pointers) => {
    const { body } = await api.ask('post', '/payouts', sample).expect(400);
    expect(body.errors?.map(({ pointer }) => pointer).sort()).toEqual(pointers);
  });

  it.each(['17', 'nothing', '..%2Fsettings'])('returns 404 for the fault %s', async (id) => {
    const { body } = await api.ask('delete', `/faults/${id}`).expect(404);
    expect(body.code).toBe('fault_not_found');
  });

  it('explains how to fix an app without a key', async () => {
    const { operation, body } = await api.sample(AIRTIME);
    const missing = async () => {
      const { body: problem } = await api.ask('post', '/payouts', { operation, body }).expect(409);
      expect(problem).toMatchObject({
        code: 'demo_key_missing',
        detail: expect.stringMatching(/Delete demo-keys.json/),
      });
    };
    rmSync(api.keysFile);
    await missing();
    for (const content of ['{}', 'null', 'none', '{"app":7}', `{"app":"pp_app_${'x'.repeat(40)}"}`]) {
      writeFileSync(api.keysFile, content);
      await missing();
    }
    rmSync(api.keysFile);
    await api.demoKeys();
    expect(await api.send(AIRTIME)).toMatchObject({ status: 200 });

    const newest = (await api.clients.listKeys('app')).at(-1);
    await api.clients.revokeKey(newest?.id ?? '');
    await missing();
  });

  it('requires the scope admin', async () => {
    for (const [method, path, body] of ROUTES) {
      for (const name of ['app', 'auditor', 'reconciler', 'approver']) {
        const { body: problem } = await api.ask(method, path, body, api.keys[name]).expect(403);
        expect(problem).toMatchObject({ code: 'scope_missing' });
      }
    }
    expect((await api.look()).faults).toEqual([]);
  });
});

describe('a proxy', () => {
  it('reports an ended sandbox, or missing demo clients', async () => {
    const nowhere = {
      url: 'http://127.0.0.1:1',
      controlKey: new Secret(CONTROL_KEY),
      demoKeysFile: undefined,
    };
    const proxy = await startProxy({ upstreamBaseUrl: nowhere.url, embeddedSandbox: nowhere });
    const { key } = await proxy.client('admin', 'admin');
    const { body } = await proxy.get(key, '/v1/sandbox').expect(503);
    expect(body).toMatchObject({
      code: 'sandbox_unreachable',
      detail: expect.stringMatching(/Restart the proxy/),
    });
    const payout = { operation: AIRTIME, body: {} };
    const sent = await supertest(proxy.url)
      .post('/v1/sandbox/payouts')
      .set('X-API-Key', key)
      .send(payout)
      .expect(409);
    expect(sent.body.detail).toMatch(/without DATABASE_URL/);
    await proxy.close();
  });

  it('serves no sandbox API without its own sandbox', async () => {
    const proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
    const { key } = await proxy.client('admin', 'admin');
    for (const [method, path, body] of ROUTES) {
      const { body: problem } = await supertest(proxy.url)
        [method](`/v1/sandbox${path}`)
        .set('X-API-Key', key)
        .send(body)
        .expect(404);
      expect(problem).toMatchObject({
        code: 'not_found',
        detail: expect.stringMatching(/UPSTREAM_BASE_URL/),
      });
    }
    await proxy.close();
  });
});
