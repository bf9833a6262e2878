import fc from 'fast-check';
import { runs } from '../support/examples/runs';
import { redemption, startInterface, TestInterface } from '../support/http/interface';

/** Free-form JSON is the one thing that passes without a rule for each of its fields. */
describe('meta', () => {
  let api: TestInterface;

  beforeAll(async () => {
    api = await startInterface();
  });
  afterAll(() => api.close());

  const withMeta = (meta: string) =>
    JSON.stringify({ ...redemption(), meta: '?' }).replace('"?"', () => meta);
  const redeem = (meta: string) => api.postRaw('/redeem/airtime', withMeta(meta));

  it.each([
    '{}',
    '{"a":{"b":[1,2.5,-0.1,true,false,null,"",[],{}]}}',
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    '{"__proto__":null,"toString":1,"toJSON":"x","then":{},"valueOf":[],"hasOwnProperty":0,"length":-1}',
    '{"a":[{"__proto__":[{"constructor":5}]}],"":{"":""},"a/b~c":1}',
    '{"🎉":"עברית \\n\\t"}',
    '{"valueInUSD":9,"phoneNumber":"+1234567","meta":{"chiRef":"other"}}',
  ])('is forwarded byte for byte at its position, and recorded: %s', async (meta) => {
    const response = await redeem(meta).expect(200);
    expect(api.upstream.received.at(-1)?.body).toBe(withMeta(meta));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const { headers } = response;
    const recorded = await api.proxy.get(api.auditor, `/v1/audit/calls/${headers['x-call-id']}`).expect(200);
    expect(recorded.text).toContain(`"meta":${meta}`);
    expect(recorded.body.items).toMatchObject([
      { recipient: { phone: '+2348012345678' }, upstream_ref: redemption().chiRef, amount_usd: null },
    ]);
  });

  it('is forwarded unchanged or rejected, for any JSON object', async () => {
    const name = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', 'then', 'a'), fc.string());
    const meta = fc.dictionary(name, fc.jsonValue({ maxDepth: 4 }), { noNullPrototype: true });
    await fc.assert(
      fc.asyncProperty(meta, async (value) => {
        const json = JSON.stringify(value);
        const response = await redeem(json);
        if (response.status === 200) expect(api.upstream.received.at(-1)?.body).toBe(withMeta(json));
        else expect(response.body.errors).toEqual([expect.objectContaining({ pointer: '/meta' })]);
      }),
      { numRuns: runs(50) },
    );
  });

  it.each([
    ['nested too deep', '{"a":'.repeat(10) + '1' + '}'.repeat(10)],
    ['too large', `{"a":"${'x'.repeat(8_192)}"}`],
    ['with NUL', '{"a":"\\u0000"}'],
    ['with NUL in a name', '{"a":[{"\\u0000":1}]}'],
    ['with half a character', '{"a":"\\ud800"}'],
    ['with a number that is none', '{"a":1e309}'],
    ['with a number whose last digits would change', '{"a":[12345678901234567890]}'],
    ['a list', '[{"a":1}]'],
    ['text', '"{}"'],
    ['null', 'null'],
  ])('is rejected at its position and not recorded: %s', async (_what, meta) => {
    const recorded = await api.expectRefused(redeem(meta), [
      { pointer: '/meta', detail: /^must be an object of at most 8192 bytes of JSON and 8 levels/ },
    ]);
    expect(recorded.refusal!.errors[0]!.pointer).toBe('/meta');
  });

  it('is rejected if a name is given twice', () =>
    api.expectRefused(redeem('{"a":{"b":1,"b":2}}'), [
      { pointer: '/meta/a/b', detail: /^must be given only once$/ },
    ]));

  it('is forwarded for a sub-account in the same way', async () => {
    const body = '{"name":"Branch","meta":{"__proto__":{"a":1}},"email":"ada@example.com"}';
    await api.postRaw('/sub-account/create', body).expect(200);
    expect(api.upstream.received.at(-1)?.body).toBe(body);
  });

  it('is masked completely for readers without access to people', async () => {
    const { key } = await api.proxy.client('masked', 'audit');
    const { headers } = await redeem('{"reference":"Ada Lovelace","Lovelace":{"id":"Ada"}}').expect(200);
    const { body } = await api.proxy.get(key, `/v1/audit/calls/${headers['x-call-id']}`).expect(200);
    expect(body.request?.body).toMatchObject({ meta: '••••', phoneNumber: '••••' });
    expect(JSON.stringify(body)).not.toMatch(/Lovelace|"Ada/);
  });
});
