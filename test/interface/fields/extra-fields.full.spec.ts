import { openApiDocuments } from '../../../src/app/openapi';
import { itemsOf } from '../../../src/operations/items/items';
import { airtimeItem, creditItem, startInterface, TestInterface } from '../../support/http/interface';
import { startProxy } from '../../support/processes/proxy';

const EXTRAS = ['branch', 'turnOffNotification', 'narration'];
const WRONG = /^must be text of at most 1000 characters without .*, true, false, or a number that keeps .*$/;
const UNKNOWN = /^must not be sent, because it is not a field of this operation$/;

/** EXTRA_FIELDS_ALLOWED: undocumented fields of public clients. */
describe('an extra field', () => {
  let api: TestInterface;
  let strict: TestInterface;

  beforeAll(async () => {
    api = await startInterface({ extraFieldsAllowed: EXTRAS });
    strict = await startInterface();
  });
  afterAll(async () => {
    await api.close();
    await strict.close();
  });

  const sent = () => api.upstream.received.at(-1)?.body;

  it('is forwarded and recorded after the known fields of bodies and items', async () => {
    const json = '{"narration":"für Ada 🎉","credit":[{"branch":"s-1","valueInUSD":1.5,"twitter":"@ada"}]}';
    const response = await api.postRaw('/send', json).expect(200);
    const id = response.headers['x-call-id'] as string;
    expect(sent()).toBe(
      '{"credit":[{"valueInUSD":1.5,"twitter":"@ada","branch":"s-1"}],"narration":"für Ada ' +
        `🎉","description":"Ref ${id}"}`,
    );
    const recorded = await api.record(id);
    expect(JSON.stringify(recorded.request!.body)).toBe(sent());
  });

  it.each([true, false, 0, -0.25, 9_007_199_254_740_991, '', 'a'])('may have the value %j', async (value) => {
    await api.post('/payouts/airtime', { airtimes: [airtimeItem()], turnOffNotification: value }).expect(200);
    expect(JSON.parse(sent() ?? '')).toHaveProperty('turnOffNotification', value);
  });

  it.each([
    'null',
    '[]',
    '{}',
    '["a"]',
    '{"a":1}',
    '1e309',
    '9007199254740993',
    '"a\\u0000"',
    '"a\\nb"',
    '"\\ud800"',
  ])('rejects the value %s in bodies and items, and records only its position', async (value) => {
    const item = JSON.stringify(airtimeItem()).slice(0, -1);
    const body = `{"narration":${value},"airtimes":[${item}},${item},"branch":${value}}]}`;
    const recorded = await api.expectRefused(api.postRaw('/payouts/airtime', body), [
      { pointer: '/narration', detail: WRONG },
      { pointer: '/airtimes/1/branch', detail: WRONG },
    ]);
    expect(recorded.refusal!.errors.map(({ pointer }) => pointer).sort()).toEqual([
      '/airtimes/1/branch',
      '/narration',
    ]);
  });

  it('is rejected in queries, or unless its exact name is allowed', async () => {
    await api.expectRefused(api.post('/send', { credit: [creditItem()], Narration: 'a', subaccount: 'b' }), [
      { pointer: '/Narration', detail: UNKNOWN },
      { pointer: '/subaccount', detail: UNKNOWN },
    ]);
    await strict.expectRefused(strict.post('/send', { credit: [{ ...creditItem(), narration: 'a' }] }), [
      { pointer: '/credit/0/narration', detail: UNKNOWN },
    ]);
    await api.expectRefused(api.get('/account/transaction?id=a&branch=b'), [
      { pointer: '/branch', detail: UNKNOWN },
    ]);
  });

  it('is rejected if no body is forwarded', async () => {
    const lost = [{ pointer: '/branch', detail: UNKNOWN }];
    await api.expectRefused(api.post('/wallets/list', { branch: 'a' }), lost);
    await api.expectRefused(api.post('/account/issue-id-transactions?issueID=a', { branch: 'a' }), lost);
    await api.post('/account/transactions', { branch: 'a' }).expect(200);
    expect(sent()).toBe('{"branch":"a"}');
  });

  it('is masked like all unknown fields', async () => {
    const { key } = await api.proxy.client('masked', 'audit');
    const { headers } = await api
      .post('/send', { credit: [creditItem()], narration: 'Ada Lovelace' })
      .expect(200);
    const { body } = await api.proxy.get(key, `/v1/audit/calls/${headers['x-call-id']}`).expect(200);
    expect(body.request?.body).toMatchObject({ narration: '••••' });
  });

  it('is never a field of the interface, which has its own rules', async () => {
    for (const name of ['amount', 'valueInUSD', 'email', 'reference', 'meta']) {
      const settings = { upstreamBaseUrl: api.upstream.url, extraFieldsAllowed: ['narration', name] };
      const start = startProxy(settings, api.proxy.database);
      await expect(start).rejects.toThrow(
        `EXTRA_FIELDS_ALLOWED must not name ${name}, because the interface defines that field`,
      );
    }
    expect(itemsOf('POST /account/transfer', { receiver: 'a', narration: 'b', branch: 'c' })).toEqual(
      itemsOf('POST /account/transfer', { receiver: 'a' }),
    );
  });

  it('appears in the OpenAPI document of this configuration', () => {
    const { apps: document } = openApiDocuments(api.proxy.app, { maxItems: 10, extraFieldsAllowed: EXTRAS });
    const schemas = document.components?.schemas as Record<string, { properties?: object }>;
    const propertiesOf = (name: string) => Object.keys(schemas[name]?.properties ?? {});
    for (const name of ['SendDto', 'SendItem', 'TransferDto', 'TransactionsDto']) {
      expect(propertiesOf(name)).toEqual(expect.arrayContaining(EXTRAS));
    }
    expect(propertiesOf('NoProperties')).toEqual([]);
  });
});
