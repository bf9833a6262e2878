import { answer } from '../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../support/payments/paying';

const CREDITS = { credits: [{ email: 'ada@example.com', valueInUSD: 2 }] };

/** An upstream that names a transaction twice, or beside an error, gives nobody what is somebody else's. */
describe('a transaction that the upstream reports to several clients', () => {
  let paying: PaymentScene;
  let made = 0;

  beforeAll(async () => {
    paying = await startPaying();
  });
  afterAll(() => paying.close());

  const client = async () => (await paying.proxy.client(`app-${(made += 1)}`, 'pay', 'write', 'read')).key;
  const naming = (chiRef: string, status = 200, word = 'success') => {
    const named = {
      id: `id-${chiRef}`,
      chiRef,
      issueID: 'shop_2_1',
      email: 'ada@example.com',
      valueInUSD: 2,
    };
    return answer(status, { status: word, error: 'failed', data: { data: [named], error: 'None' } });
  };
  const pay = async (key: string) => (await paying.proxy.post(key, '/payouts/credit', CREDITS)).status;
  const redeem = async (key: string, chiRef: string) => {
    const body = { chiRef, phoneNumber: '+254712345678', countryToSend: 'Kenya' };
    return (await paying.proxy.post(key, '/redeem/airtime', body)).status;
  };
  const read = async (key: string, chiRef: string) =>
    (await paying.proxy.get(key, `/api/v0.1/account/transaction?id=id-${chiRef}`)).status;

  it('belongs to the first client', async () => {
    const [first, second] = [await client(), await client()];
    paying.upstream.behaviour = naming('chi-shared');
    expect([await pay(first), await pay(second)]).toEqual([200, 200]);
    expect([await read(second, 'chi-shared'), await redeem(second, 'chi-shared')]).toEqual([404, 404]);
    expect([await read(first, 'chi-shared'), await redeem(first, 'chi-shared')]).toEqual([200, 200]);
  });

  it('is hidden from the other client in a batch that they share', async () => {
    const [first, second] = [await client(), await client()];
    paying.upstream.behaviour = naming('chi-one');
    await pay(first);
    paying.upstream.behaviour = naming('chi-two');
    await pay(second);
    const listed = ['chi-one', 'chi-two', 'chi-of-nobody'].map((chiRef) => ({ chiRef, id: `id-${chiRef}` }));
    paying.upstream.behaviour = answer(200, { status: 'success', data: listed });
    for (const [key, own] of [
      [first, 'chi-one'],
      [second, 'chi-two'],
    ] as const) {
      const { body } = await paying.proxy
        .post(key, '/account/issue-id-transactions?issueID=shop_2_1', {})
        .expect(200);
      expect(body.data).toEqual([{ chiRef: own, id: `id-${own}` }]);
    }
  });

  it.each([
    ['an error with 500', 500, 'error'],
    ['an error with 400', 400, 'error'],
  ])('does not belong to a client because %s names it', async (_what, status, word) => {
    const [owner, other] = [await client(), await client()];
    const chiRef = `chi-${status}`;
    paying.upstream.behaviour = naming(chiRef, status, word);
    await pay(other);
    expect([await read(other, chiRef), await redeem(other, chiRef)]).toEqual([404, 404]);
    paying.upstream.behaviour = naming(chiRef);
    await pay(owner);
    expect([await read(owner, chiRef), await read(other, chiRef)]).toEqual([200, 404]);
  });
});
