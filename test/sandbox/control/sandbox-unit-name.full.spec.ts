import { airtime, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

describe('the configured unit name', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox({ unitName: 'coin' })));
  afterAll(() => sandbox.close());

  const items = [{ email: 'ada@example.org', valueInUSD: 1.5 }];

  it('appears in paths and field names of requests and responses', async () => {
    const { body: paid } = await sandbox.post('/payouts/coin', { coins: items }).expect(200);
    expect(paid).toMatchObject({
      data: { coins: [], data: [{ coin: 1500, type: 'credit', email: 'ada@example.org' }] },
    });
    expect(JSON.stringify(paid)).not.toMatch(/"credits?":/);
    const { body: initiated } = await sandbox.post('/payouts/initiate-coin', { coins: items }).expect(200);
    expect(initiated).toMatchObject({ data: { data: [{ coin: 1500, status: 'unpaid' }] } });
    await sandbox.post('/send', { coin: items }).expect(200);
    const { body: momo } = await sandbox
      .post('/payouts/mobile-money', {
        momos: [{ ...airtime().airtimes[0], momoCode: 'MPS', reference: '' }],
      })
      .expect(200);
    expect(momo).toMatchObject({ data: { coins: [{ coin: 1000 }] } });
  });

  it('replaces the default for callers', async () => {
    await sandbox.post('/payouts/credit', { coins: items }).expect(404);
    await sandbox.post('/payouts/initiate-credit', { coins: items }).expect(404);
    const { body } = await sandbox.post('/payouts/coin', { credits: items }).expect(400);
    expect(body).toMatchObject({ error: 'coins must be an array' });
    const { body: item } = await sandbox.post('/send', { coin: [{}] }).expect(500);
    expect(item.error).toMatch(/^coin\[0\] must have an email/);
  });

  it('is absent from faults and the ground truth, except for bodies', async () => {
    await sandbox.control('post', '/reset').expect(204);
    await sandbox.fault({ fault: 'forbidden', operation: 'POST /payouts/credit', nth: 1 });
    await sandbox.post('/payouts/coin', { coins: items }).expect(403);
    await sandbox
      .post('/payouts/coin', { coins: [{ ...items[0], email: 'unauthorized@sandbox.example' }] })
      .expect(401);
    expect(await sandbox.requests('POST /payouts/credit')).toMatchObject([
      { fault: 'forbidden', body: { coins: items } },
      { fault: 'unauthorized' },
    ]);
  });

  it('changes nothing if it is credit', async () => {
    const plain = await startSandbox();
    const { body } = await plain.post('/payouts/credit', { credits: items }).expect(200);
    expect(body.data).toMatchObject({ credits: [], data: [{ credit: 1500 }] });
    await plain.close();
  });
});
