import { collection, redemption, startInterface, TestInterface } from '../../support/http/interface';
import { answer } from '../../support/network/fake-upstream';

const CALLS = '/v1/audit/calls';
const CHI_REF = redemption().chiRef as string;

/** Searchable items of the undocumented operations. */
describe('the items of observed operations', () => {
  let api: TestInterface;

  beforeAll(async () => {
    api = await startInterface();
  });
  afterAll(() => api.close());

  const found = async (filter: Record<string, string>) => {
    const query = new URLSearchParams(filter).toString();
    const { body } = await api.proxy.get(api.auditor, `${CALLS}?${query}`).expect(200);
    return (body.calls as { id: string }[]).map(({ id }) => id);
  };

  it.each(['collect', 'initiate'])(
    'are found by phone, email and reference, without an amount in US dollars: %s',
    async (step) => {
      const body = { ...collection(), tx_ref: `invoice-${step}`, email: `${step}@example.com` };
      const response = await api.post(`/collections/mobile-money/${step}`, body).expect(200);
      const id = response.headers['x-call-id'] as string;
      expect(await api.record(id)).toMatchObject({
        item_count: 1,
        total_usd: null,
        items: [
          {
            recipient: { email: `${step}@example.com`, phone: '+254712345678', handle: null, receiver: null },
            recipient_field: null,
            amount_usd: null,
            country: 'Kenya',
            reference: `invoice-${step}`,
          },
        ],
      });
      expect(await found({ recipient: '+254712345678' })).toContain(id);
      expect(await found({ recipient: `${step}@EXAMPLE.com` })).toEqual([id]);
      expect(await found({ reference: `invoice-${step}` })).toEqual([id]);
    },
  );

  it('are found by phone and transaction for a redemption, and linked to its response', async () => {
    const transaction = { chiRef: CHI_REF, id: 'transaction-9', status: 'redeemed', valueInUSD: '3.5' };
    api.upstream.behaviour = answer(200, {
      status: 'success',
      data: { ...transaction, email: 'ada@example.com' },
    });
    const response = await api.post('/redeem/airtime', redemption()).expect(200);
    const id = response.headers['x-call-id'] as string;
    const recorded = await api.record(id);
    expect(recorded.items).toMatchObject([
      {
        recipient: { phone: '+2348012345678' },
        recipient_field: 'phone',
        country: 'Nigeria',
        upstream_ref: CHI_REF,
        amount_usd: null,
        upstream: { upstream_id: 'transaction-9', status: 'redeemed' },
      },
    ]);
    expect(recorded.upstream!.other_items).toEqual([]);
    expect(await found({ recipient: '+2348012345678' })).toEqual([id]);
    expect(await found({ upstream_ref: CHI_REF })).toEqual([id]);
    expect(await found({ upstream_ref: 'transaction-9' })).toEqual([id]);
  });

  it('are not linked to another transaction in the response to a redemption', async () => {
    const other = { chiRef: 'another', id: 'transaction-10', phoneNumber: '+2348012345678' };
    api.upstream.behaviour = answer(200, { status: 'success', data: other });
    const response = await api.post('/redeem/airtime', redemption()).expect(200);
    const recorded = await api.record(response.headers['x-call-id'] as string);
    expect([recorded.items[0]!.upstream, recorded.upstream!.other_items.length]).toEqual([null, 1]);
  });

  it('count the amount of a transfer between wallets, and are found by its tnxID', async () => {
    const data = {
      sender: 'me',
      wallet: 'airtime',
      valueInUSD: '2.50',
      tnxID: 'tnx-1',
      receiver: 'sub-account-1',
    };
    api.upstream.behaviour = answer(200, { status: 'success', data: { data, error: 'None' } });
    const body = { receiver: 'sub-account-1', valueInUSD: 2.5, wallet: 'airtime' };
    const response = await api.post('/wallets/transfer', body).expect(200);
    const id = response.headers['x-call-id'] as string;
    expect(await api.record(id)).toMatchObject({
      total_usd: '2.5',
      items: [
        {
          recipient: { receiver: 'sub-account-1' },
          recipient_field: 'receiver',
          wallet: 'airtime',
          amount_usd: '2.5',
          upstream: { upstream_id: 'tnx-1', amount_usd: '2.5' },
        },
      ],
    });
    expect(await found({ upstream_ref: 'tnx-1' })).toEqual([id]);
    expect(await found({ recipient: 'sub-account-1' })).toEqual([id]);
  });

  it('are found by the holder of a new sub-account, and pay no recipient', async () => {
    const holder = {
      name: 'Branch',
      email: 'grace@example.com',
      phoneNumber: '+233201234567',
      firstName: 'Grace',
    };
    const response = await api.post('/sub-account/create', holder).expect(200);
    const id = response.headers['x-call-id'] as string;
    expect((await api.record(id)).items).toMatchObject([
      {
        recipient: { email: 'grace@example.com', phone: '+233201234567' },
        recipient_field: null,
        amount_usd: null,
      },
    ]);
    expect(await found({ recipient: 'grace@example.com' })).toEqual([id]);
    expect(await found({ recipient: '+233201234567' })).toEqual([id]);
  });

  it('are linked to a transaction that names the payer by `phone_number`, for a collection', async () => {
    const transaction = { chiRef: 'c-1', id: 'payment-1', phone_number: '+254712345678', status: 'pending' };
    api.upstream.behaviour = answer(200, { status: 'success', data: transaction });
    const response = await api.post('/collections/mobile-money/initiate', collection()).expect(200);
    const { items } = await api.record(response.headers['x-call-id'] as string);
    expect(items[0]!.upstream).toMatchObject({ upstream_id: 'payment-1', status: 'pending' });
  });

  it('store people in separate tables, and names only in the body, both masked', async () => {
    api.upstream.behaviour = answer(200, { status: 'success', data: collection() });
    const { headers } = await api.post('/collections/mobile-money/collect', collection()).expect(200);
    const { headers: created } = await api
      .post('/sub-account/create', { name: 'Ada Lovelace', email: 'ada@example.com', lastName: 'Lovelace' })
      .expect(200);
    const { key } = await api.proxy.client('masked', 'audit');
    for (const id of [headers['x-call-id'], created['x-call-id']]) {
      const { text } = await api.proxy.get(key, `${CALLS}/${id}`).expect(200);
      expect(text).not.toMatch(/Lovelace|ada@|712345678/);
      for (const table of ['intent', 'outcome']) {
        const column = table === 'intent' ? 'id' : 'intent_id';
        const rows = await api.proxy.database.query(
          `SELECT t::text AS row FROM ${table} t WHERE ${column} = $1`,
          [id],
        );
        expect(JSON.stringify(rows)).not.toMatch(/Lovelace|ada@|712345678/);
      }
    }
  });
});
