import { succeed } from '../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../support/payments/paying';
import { copyIntent } from '../support/records/intents';

/** After a lost connection an app finds its call again by the key it sent. */
describe('the list of own calls', () => {
  let paying: PaymentScene;
  let rival: { id: string; key: string };
  let model: string;

  beforeAll(async () => {
    paying = await startPaying();
    rival = await paying.proxy.client('rival', 'read');
    paying.upstream.behaviour = succeed;
    model = (await paying.pay().expect(200)).headers['x-call-id'] ?? '';
  });
  afterAll(() => paying.close());

  const copy = (changes: Record<string, unknown>) => copyIntent(paying.proxy.database, model, changes);
  async function found(query: string, key = paying.app): Promise<string[]> {
    const { body } = await paying.proxy.get(key, `/v1/calls?${query}`).expect(200);
    return body.calls.map(({ id }) => id);
  }

  it('finds own calls by key, of any operation, bare or quoted, newest first', async () => {
    const first = await copy({ idempotency_key: 'order-17' });
    const second = await copy({ idempotency_key: 'order-17', operation: 'POST /send' });
    const theirs = await copy({ idempotency_key: 'order-17', client_id: rival.id });
    await copy({ idempotency_key: 'order-18' });
    expect(await found('idempotency_key=order-17')).toEqual([second, first]);
    expect(await found('idempotency_key=%22order-17%22')).toEqual([second, first]);
    expect(await found('idempotency_key=order-17&operation=POST%20/send')).toEqual([second]);
    expect(await found('idempotency_key=order-17', rival.key)).toEqual([theirs]);
    expect(await found('idempotency_key=ORDER-17')).toEqual([]);
    const audited = await paying.proxy
      .get(paying.auditor, '/v1/audit/calls?idempotency_key=order-17')
      .expect(200);
    expect(audited.body.calls.map(({ id }) => id)).toEqual([theirs, second, first]);
  });

  it('shows the key and the actor to the app, and to auditors without access to people', async () => {
    const shown = { idempotency_key: 'order-19', actor: 'ada.l' };
    const { headers } = await paying
      .pay()
      .set('Idempotency-Key', shown.idempotency_key)
      .set('X-Actor', shown.actor)
      .expect(200);
    const id = headers['x-call-id'] ?? '';
    const { body } = await paying.proxy.get(paying.app, '/v1/calls?idempotency_key=order-19').expect(200);
    expect(body.calls).toMatchObject([{ id, ...shown }]);
    const { key } = await paying.proxy.client('looking', 'audit');
    const { body: audited } = await paying.proxy.get(key, `/v1/audit/calls/${id}`).expect(200);
    expect(audited).toMatchObject(shown);
  });

  it('has pages, and includes refused requests', async () => {
    const refused = await paying.proxy
      .post(paying.app, '/send', {})
      .set('Idempotency-Key', 'paged')
      .expect(400);
    const calls = [refused.headers['x-call-id']];
    for (let n = 0; n < 2; n += 1) calls.unshift(await copy({ idempotency_key: 'paged' }));
    const first = (
      await paying.proxy.get(paying.app, '/v1/calls?idempotency_key=paged&page_size=2').expect(200)
    ).body;
    const rest = await found(`idempotency_key=paged&page_token=${first.next_page_token}`);
    expect([...first.calls.map(({ id }) => id), ...rest]).toEqual(calls);
    expect((await found('')).length).toBeGreaterThan(3);
  });

  it.each(['idempotency_key=', 'idempotency_key=a%20b', 'page_size=0', 'client=rival'])(
    'rejects %s',
    async (query) => {
      const { body } = await paying.proxy.get(paying.app, `/v1/calls?${query}`).expect(400);
      expect(body.code).toBe('invalid_request');
    },
  );
});
