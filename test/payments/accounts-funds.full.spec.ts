import { INestApplicationContext } from '@nestjs/common';
import { Secret } from '../../src/platform/config/secrets/secret';
import { WalletsJob } from '../../src/reconciliation/wallets/wallets.job';
import type { Method } from '../support/http/request';
import { FakeUpstream, hang } from '../support/network/fake-upstream';
import { startProxyWithAccounts } from '../support/payments/accounts';
import { UPSTREAM_KEY } from '../support/processes/proxy';
import { askSandbox } from '../support/sandbox/sandbox-answers';

const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
/** The initial sub-account of each sandbox. */
const NORTH = '00000000-0000-4000-8000-000000000002';
const SOUTH = '00000000-0000-4000-8000-000000000003';

const airtime = (valueInUSD: number) => ({
  airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD }],
});

/** The account decides which wallet its requests pay from. The app does not. */
describe('an upstream account', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithAccounts<'north' | 'airtime' | 'down' | 'stuck'>>>;
  let worker: INestApplicationContext;
  let shop: string;
  let branch: string;
  let transfers: string;
  let stranded: string;
  let stuck: string;
  let slow: FakeUpstream;
  let auditor: string;

  beforeAll(async () => {
    const unused = await FakeUpstream.start();
    const { url: refusing } = unused;
    await unused.stop();
    slow = await FakeUpstream.start();
    slow.behaviour = hang;
    proxy = await startProxyWithAccounts(['north', 'airtime', 'down', 'stuck'], {
      settings: {
        upstreamConnections: 4,
        upstreamQueue: 4,
        infoCacheTtlSeconds: 300,
        walletsEverySeconds: 3_600,
        walletLowBalanceUsd: LOW,
      },
      more: {
        // The same key with another wallet.
        north: { apiKey: new Secret(UPSTREAM_KEY), subAccount: NORTH },
        airtime: { wallet: 'airtime' },
        down: { baseUrl: refusing },
        stuck: { baseUrl: slow.url },
      },
    });
    await control('post', '/entries', {
      type: 'top-up',
      account: NORTH,
      wallet: 'airtime',
      valueInUSD: 50,
    }).expect(201);
    shop = (await proxy.clientOf('main', 'shop', 'pay', 'read', 'account')).key;
    branch = (await proxy.clientOf('north', 'branch', 'pay', 'read', 'account')).key;
    transfers = (await proxy.clientOf('airtime', 'transfers', 'pay', 'read', 'account')).key;
    stuck = (await proxy.clientOf('stuck', 'stuck', 'pay', 'read')).key;
    stranded = (await proxy.clientOf('down', 'stranded', 'pay', 'read')).key;
    auditor = (await proxy.client('auditor', 'audit')).key;
    worker = await proxy.startWorker();
  });
  afterAll(() => proxy.close());

  const control = <Verb extends Method, const Path extends string>(method: Verb, path: Path, body?: object) =>
    askSandbox(proxy.sandbox.url)[method](`/_sandbox${path}`).set(CONTROL).send(body);
  const balanceOf = async (account: string, wallet: string) => {
    const { body } = await control('get', '/accounts').expect(200);
    const found = body.find(({ id }) => id === account)?.wallets.find(({ type }) => type === wallet);
    return Number(found?.balance);
  };
  const bodyOf = async ({ headers }: { headers: Record<string, string> }) => {
    const [row] = await proxy.database.query<{ body: Buffer }>(
      'SELECT body FROM intent_body WHERE intent_id = $1',
      [headers['x-call-id']],
    );
    return JSON.parse(String(row?.body)) as object;
  };

  it('pays from its sub-account, records it, and lists only its own calls', async () => {
    const paid = await proxy.post(branch, '/payouts/airtime', airtime(4.5)).expect(200);
    expect(await balanceOf(NORTH, 'airtime')).toBe(45.5);
    expect(await bodyOf(paid)).toMatchObject({ subAccount: NORTH });
    const mains = await proxy.post(shop, '/payouts/airtime', airtime(5.5)).expect(200);
    expect(await bodyOf(mains)).not.toHaveProperty('subAccount');
    expect(await balanceOf(NORTH, 'airtime')).toBe(45.5);
    const { body } = await proxy.post(branch, '/account/transactions', {}).expect(200);
    const amounts = (body.data as { valueInUSD: number }[]).map(({ valueInUSD }) => valueInUSD);
    expect(amounts).toEqual([4.5]);
    const wallets = await proxy.get(branch, '/api/v0.1/wallets/list').expect(200);
    expect(JSON.stringify(wallets.body)).toContain('45.5');
  });

  it('rejects a sub-account chosen by the app', async () => {
    for (const subAccount of [NORTH, SOUTH]) {
      const refused = await proxy.post(shop, '/payouts/airtime', { ...airtime(1), subAccount }).expect(400);
      expect(refused.body.errors).toMatchObject([{ pointer: '/subAccount' }]);
    }
  });

  it('replays by the body of the app, without the fields that the account adds', async () => {
    const pay = () =>
      proxy.post(branch, '/payouts/airtime', airtime(1.25)).set('Idempotency-Key', 'once').expect(200);
    const [one, two] = [await pay(), await pay()];
    expect([two.headers['idempotent-replayed'], two.text]).toEqual(['true', one.text]);
    expect(await balanceOf(NORTH, 'airtime')).toBe(44.25);
  });

  it('limits transfers to its own wallet', async () => {
    const to = { receiver: '00000000-0000-4000-8000-000000000001', valueInUSD: 2 };
    const moved = await proxy.post(transfers, '/wallets/transfer', to).expect(200);
    expect(await bodyOf(moved)).toMatchObject({ wallet: 'airtime' });
    const { id } = proxy.accounts.airtime;
    expect(await balanceOf(id, 'airtime')).toBe(998);
    await proxy.post(transfers, '/wallets/transfer', { ...to, wallet: 'airtime' }).expect(200);
    const refused = await proxy.post(transfers, '/wallets/transfer', { ...to, wallet: 'chi' }).expect(403);
    expect(refused.body).toMatchObject({
      code: 'wallet_not_allowed',
      errors: [{ pointer: '/wallet', detail: 'must be airtime, or left out' }],
    });
    expect(await balanceOf(id, 'chi')).toBe(1_000);
    const preview = await proxy.get(auditor, `/v1/audit/calls/${refused.headers['x-call-id']}`).expect(200);
    expect(preview.body.refusal).toMatchObject({ code: 'wallet_not_allowed' });
  });

  it('takes no capacity from other accounts while it is slow', async () => {
    const waiting = Array.from({ length: 12 }, () =>
      proxy.post(stuck, '/payouts/airtime', airtime(1)).then(),
    );
    const refused = await Promise.race(waiting);
    // every slot of the account is taken
    expect([refused.status, refused.body.code]).toEqual([503, 'overloaded']);
    await proxy.post(shop, '/payouts/airtime', airtime(1)).expect(200);
    await slow.stop();
    await Promise.all(waiting);
  });

  it('fails without affecting other accounts', async () => {
    const refused = await proxy.post(stranded, '/payouts/airtime', airtime(1)).expect(503);
    expect(refused.body.code).toBe('upstream_unreachable');
    await proxy.get(stranded, '/api/v0.1/info/airtime-countries').expect(503);
    await proxy.get(shop, '/api/v0.1/info/airtime-countries').expect(200);
    await proxy.get(stranded, '/api/v0.1/info/airtime-countries').expect(503); // answers are not shared
    await proxy.post(shop, '/payouts/airtime', airtime(1)).expect(200);
  });

  it('reports low balances of its own wallets', async () => {
    await worker.get(WalletsJob).turn();
    const acts = await proxy.database.query<{ account: string | null; type: string }>(
      `SELECT after::json ->> 'account' AS account, after::json ->> 'wallet_type' AS type FROM activity
       WHERE action = 'wallet_low' ORDER BY 1`,
    );
    expect(acts).toEqual([{ account: 'north', type: 'airtime' }]);
  });
});

const LOW = new Map([['north/airtime', '100']]);
