import { FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const CALLS = '/v1/audit/calls';
const base64url = (text: string) => Buffer.from(text).toString('base64url');

describe('a search with invalid filters', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let auditor: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    ({ key: auditor } = await proxy.client('auditor', 'audit'));
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  it.each([
    ['from=yesterday', '/from'],
    ['from=2026-11-20T08:00:00', '/from'],
    ['from=2026-02-30T00:00:00Z', '/from'],
    ['from=2026-W10-1T00:00:00Z', '/from'],
    ['from=2026-324T00:00:00Z', '/from'],
    ['from=2026-11-20T08:00:00,5Z', '/from'],
    ['from=%2B9999-01-01T00:00:00Z', '/from'],
    ['to=0', '/to'],
    ['outcome=paid', '/outcome'],
    ['outcome=Succeeded', '/outcome'],
    ['outcome=unknown&outcome=refused', '/outcome'],
    ['page_size=0', '/page_size'],
    ['page_size=201', '/page_size'],
    ['page_size=-1', '/page_size'],
    ['page_size=1.5', '/page_size'],
    ['page_size=1e2', '/page_size'],
    ['page_size=', '/page_size'],
    ['page_token=x', '/page_token'],
    ['page_token=01a1fb98-53b1-7069-a17f-af1e8cacb634', '/page_token'],
    ['client=', '/client'],
    ['recipient=', '/recipient'],
    ['recipient=%00', '/recipient'],
    ['reference=', '/reference'],
    ['upstream_ref=a&upstream_ref=b', '/upstream_ref'],
    ['key=shop', '/key'],
    ['actor_source=Token', '/actor_source'],
    ['person_id=ada', '/person_id'],
    ['in_doubt=yes', '/in_doubt'],
    ['approval=waiting', '/approval'],
    ['sort=client', '/sort'],
    ['recipient_prefix=%2B2', '/recipient_prefix'],
    ['recipient_prefix=%20%20%20', '/recipient_prefix'],
    ['recipient_prefix=%F0%9F%98%80a', '/recipient_prefix'], // Two characters, three units of UTF-16.
    ['min_item_usd=-1', '/min_item_usd'],
    ['min_item_usd=1e3', '/min_item_usd'],
    ['max_item_usd=0.0000001', '/max_item_usd'],
    ['min_total_usd=1,5', '/min_total_usd'],
    ['max_total_usd=100000000000000', '/max_total_usd'],
    ['min_item_usd=2&max_item_usd=1.999999', '/min_item_usd'],
    ['min_total_usd=10&max_total_usd=9', '/min_total_usd'],
    ['page_token=AAAAAAAAAAAAAAAAAAAAAA&sort=amount', '/page_token'],
    [`page_token=${base64url('items time AAAAAAAAAAAAAAAAAAAAAA 0 -1')}`, '/page_token'],
    [`sort=amount&page_token=${base64url('calls amount AAAAAAAAAAAAAAAAAAAAAA 0 1;2')}`, '/page_token'],
    ['colour=red', '/colour'],
    ['__proto__=1', '/__proto__'],
  ])('is rejected for %s', async (query, pointer) => {
    const { body } = await proxy
      .get(auditor, `${CALLS}?${query}`)
      .expect(400)
      .expect('Content-Type', /problem\+json/);
    expect(body).toMatchObject({ type: 'about:blank', status: 400, code: 'invalid_request' });
    expect(body.errors).toEqual([{ pointer, detail: expect.stringMatching(/^(must be |must not be sent)/) }]);
  });

  it('lists all invalid filters together', async () => {
    const { body } = await proxy
      .get(auditor, `${CALLS}?from=x&to=x&outcome=x&page_size=x&page_token=x&x=x`)
      .expect(400);
    const pointers = body.errors!.map(({ pointer }) => pointer).sort();
    expect(pointers).toEqual(['/from', '/outcome', '/page_size', '/page_token', '/to', '/x']);
  });
});
