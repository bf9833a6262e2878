import { Client } from 'pg';
import { FollowUpService } from '../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../src/reconciliation/in-doubt/rounds/resolver.service';
import { TestInterface, startInterface, creditItem, momoItem, redemption } from '../support/http/interface';
import { ReconciliationScene, startReconciling } from '../support/reconciliation/reconciliation-scene';

describe('a request with a field for our ID', () => {
  let api: TestInterface;

  beforeAll(async () => void (api = await startInterface()));
  afterAll(() => api.close());

  const subAccount = { name: 'Branch', email: 'ada@example.com' };
  const redeeming = { ...redemption(), meta: undefined };

  it.each<[string, object, (id: string) => object]>([
    ['/send', { credit: [creditItem()] }, (id) => ({ description: `Ref ${id}` })],
    [
      '/payouts/initiate-credit',
      { credits: [creditItem()], description: '' },
      (id) => ({ description: `Ref ${id}` }),
    ],
    ['/redeem/airtime', redeeming, (id) => ({ meta: { reference: id } })],
    ['/sub-account/create', subAccount, (id) => ({ meta: { reference: id } })],
    [
      '/payouts/mobile-money',
      { momos: [momoItem()] },
      (id) => ({ momos: [{ ...momoItem(), reference: `${id}.0` }] }),
    ],
  ])('gets our ID: %s', async (path, body, marks) => {
    const { headers } = await api.proxy.post(api.app, path, body).expect(200);
    const id = headers['x-call-id'] ?? '';
    expect(JSON.parse(api.upstream.received.at(-1)?.body ?? '')).toEqual({ ...body, ...marks(id) });
    const { items } = (await api.proxy.get(api.auditor, `/v1/audit/calls/${id}`).expect(200)).body;
    expect(items?.[0]?.reference).toBe(path === '/payouts/mobile-money' ? `${id}.0` : id);
  });

  it.each<[string, object]>([
    ['/send', { credit: [creditItem()], description: 'Prizes' }],
    ['/payouts/initiate-credit', { credits: [creditItem()], description: 'Prizes' }],
    ['/redeem/airtime', redemption()],
    ['/sub-account/create', { ...subAccount, meta: { cost_centre: 17 } }],
    ['/payouts/mobile-money', { momos: [{ ...momoItem(), reference: 'order 7' }] }],
  ])('keeps the text of the caller: %s', async (path, body) => {
    await api.proxy.post(api.app, path, body).expect(200);
    expect(JSON.parse(api.upstream.received.at(-1)?.body ?? '')).toEqual(body);
  });
});

describe('the ID of a call', () => {
  let scene: ReconciliationScene;
  let count = 0;

  beforeEach(async () => {
    scene = await startReconciling({ followUpEverySeconds: 0, resolverQuietSeconds: 3_600 });
    scene.worker.get(PollService).rules.quietMs = 0;
  });
  afterEach(() => scene.close());

  const link = () => ({ credit: [{ email: `somebody.${(count += 1)}@example.com`, valueInUSD: 5 }] });
  const momo = () => ({
    momos: [
      { countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 5, momoCode: 'MPS', reference: '' },
    ],
  });
  const credit = () => ({ credits: link().credit });
  const post = (path: string, body: object) => scene.proxy.post(scene.app, path, body);
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const lose = (fault: string, operation: string) => scene.fault({ fault, operation, nth: 1 });
  const read = async (id: string) => (await scene.proxy.get(scene.app, `/v1/calls/${id}`).expect(200)).body;
  const resolved = async (id: string) => {
    await scene.worker.get(ResolverService).runOnce();
    const { outcome, doubt } = await read(id);
    return doubt?.verdict ?? outcome;
  };
  const stateOf = async (id: string) => {
    await scene.worker.get(FollowUpService).runOnce();
    return (await read(id)).items?.[0]?.state;
  };
  /** Pays a link, as somebody with a browser does. */
  const payLink = async (paymentLink: string) => {
    const issueID = new URL(paymentLink).searchParams.get('issueID') ?? '';
    const answer = await fetch(`${scene.sandbox.url}/pay`, {
      method: 'POST',
      body: new URLSearchParams({ issueID }),
      redirect: 'manual',
    });
    expect(answer.status).toBe(303);
  };
  const inSandbox = async (sql: string) => {
    const client = new Client({ connectionString: scene.proxy.database.sandboxUrl });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };

  it('keeps an equal link of a third party from matching a call in doubt', async () => {
    await post('/send', link()).expect(200); // shows that descriptions are listed
    const body = link();
    await lose('resetBeforeProcessing', 'POST /send');
    const id = idOf(await post('/send', body).expect(502));
    const stranger = await scene.past('/send', body).expect(200);
    await payLink(stranger.body.data.paymentLink);
    await post('/payouts/initiate-credit', credit()).expect(200);
    expect(await resolved(id)).toBe('ambiguous');
  });

  it('finds the link of the call among equal links', async () => {
    const body = link();
    await lose('resetAfterProcessing', 'POST /send');
    const id = idOf(await post('/send', body).expect(502));
    await scene.past('/send', body).expect(200);
    expect(await resolved(id)).toBe('confirmed');
  });

  it('keeps a link pending while only an equal link of a third party is paid', async () => {
    const body = link();
    const ours = await post('/send', body).expect(200);
    const stranger = await scene.past('/send', body).expect(200);
    await payLink(stranger.body.data.paymentLink);
    expect(await stateOf(idOf(ours))).toBe('pending');
    await payLink((ours.body.data as { paymentLink: string }).paymentLink);
    expect(await stateOf(idOf(ours))).toBe('paid');
  });

  it('keeps the payment of another call from matching a call in doubt', async () => {
    await post('/payouts/mobile-money', momo()).expect(200);
    const payment = momo();
    await lose('resetBeforeProcessing', 'POST /payouts/mobile-money');
    const id = idOf(await post('/payouts/mobile-money', payment).expect(502));
    const another = { ...payment.momos[0], reference: idOf(await post('/send', link()).expect(200)) };
    await scene.past('/payouts/mobile-money', { momos: [another] }).expect(200);
    await post('/payouts/mobile-money', {
      momos: [{ ...payment.momos[0], phoneNumber: '+254712345679' }],
    }).expect(200);
    expect(await resolved(id)).toBe('not_executed');
  });

  it('keeps a payment without a reference from matching a call in doubt', async () => {
    await post('/payouts/mobile-money', momo()).expect(200);
    const payment = momo();
    payment.momos[0]!.phoneNumber = '+254712345670';
    await lose('resetBeforeProcessing', 'POST /payouts/mobile-money');
    const id = idOf(await post('/payouts/mobile-money', payment).expect(502));
    await scene.past('/payouts/mobile-money', payment).expect(200);
    expect(await resolved(id)).toBe('ambiguous');
  });

  it('proves nothing by its absence if the upstream drops references', async () => {
    await post('/payouts/mobile-money', momo()).expect(200);
    await post('/payouts/mobile-money', {
      momos: [{ ...momo().momos[0], phoneNumber: '+254712345671' }],
    }).expect(200);
    const payment = { momos: [{ ...momo().momos[0], phoneNumber: '+254712345670' }] };
    await lose('resetAfterProcessing', 'POST /payouts/mobile-money');
    const id = idOf(await post('/payouts/mobile-money', payment).expect(502));
    await inSandbox("UPDATE transactions SET reference = NULL WHERE phone_number <> '+254712345671'");
    expect(await resolved(id)).toBe('confirmed');
  });
});
