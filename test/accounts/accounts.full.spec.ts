import { createHmac, randomUUID } from 'node:crypto';
import { INestApplicationContext } from '@nestjs/common';
import { ClientsService } from '../../src/access/clients/clients.service';
import { Secret } from '../../src/platform/config/secrets/secret';
import { FollowUpService } from '../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../src/reconciliation/in-doubt/rounds/resolver.service';
import { first } from '../support/examples/first';
import type { Method } from '../support/http/request';
import supertest from '../support/http/supertest';
import { startProxyWithAccounts } from '../support/payments/accounts';
import { eventually } from '../support/payments/paying';
import { UPSTREAM_KEY } from '../support/processes/proxy';
import { askSandbox, dataIn } from '../support/sandbox/sandbox-answers';

const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const PHONE = '+254712345678';
const EVENT_SECRETS = { main: 'main-secret-of-24-bytes-or-more', kenya: 'kenya-secret-of-24-bytes-or-more' };

const airtime = (valueInUSD: number, phoneNumber = PHONE) => ({
  airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }],
});

/** Two clients of two accounts at one service. Neither account may reach or explain what is the other's. */
describe('a proxy with several upstream accounts', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithAccounts<'kenya'>>>;
  let worker: INestApplicationContext;
  let shop: string;
  let kiosk: string;
  let auditor: string;
  let operator: string;

  beforeAll(async () => {
    proxy = await startProxyWithAccounts(['kenya'], {
      settings: { upstreamWebhookSecret: new Secret(EVENT_SECRETS.main), walletsEverySeconds: 0 },
      more: { kenya: { webhookSecret: new Secret(EVENT_SECRETS.kenya) } },
    });
    shop = (await proxy.clientOf('main', 'shop', 'pay', 'write', 'read', 'account')).key;
    kiosk = (await proxy.clientOf('kenya', 'kiosk', 'pay', 'write', 'read', 'account')).key;
    auditor = (await proxy.client('auditor', 'audit')).key;
    operator = (await proxy.client('operator', 'admin')).key;
    worker = await proxy.startWorker();
    // Everything happens within one second, so only the order of the calls is evidence. The margin covers the
    // difference between the clocks of the sandbox and the database.
    Object.assign(worker.get(PollService).rules, { quietMs: 0, rejectedQuietMs: 0, skewMs: 1_000 });
  });
  afterAll(() => proxy.close());

  const control = <Verb extends Method, const Path extends string>(method: Verb, path: Path, body?: object) =>
    askSandbox(proxy.sandbox.url)[method](`/_sandbox${path}`).set(CONTROL).send(body);
  const keyOf = { main: () => UPSTREAM_KEY, kenya: () => proxy.accounts.kenya.apiKey.reveal() };
  const listed = async (account: 'main' | 'kenya') =>
    dataIn(
      'POST /account/transactions',
      await askSandbox(proxy.sandbox.url)
        .post('/api/v0.1/account/transactions')
        .set('X-API-Key', keyOf[account]()),
    );
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const callOf = async (id: string) => (await proxy.get(auditor, `/v1/audit/calls/${id}`).expect(200)).body;
  const lose = async (key: string, usd: number, phone?: string) => {
    await control('post', '/faults', {
      fault: 'resetAfterProcessing',
      operation: 'POST /payouts/airtime',
      nth: 1,
    });
    return idOf(await proxy.post(key, '/payouts/airtime', airtime(usd, phone)).expect(502));
  };

  it('pays from the account of the client only, and the sealed record names it', async () => {
    const before = { main: (await listed('main')).length, kenya: (await listed('kenya')).length };
    const paid = await proxy.post(kiosk, '/payouts/airtime', airtime(3.25)).expect(200);
    expect((await listed('main')).length).toBe(before.main);
    expect((await listed('kenya')).map(({ valueInUSD }) => valueInUSD)).toContain(3.25);
    const mains = await proxy.post(shop, '/payouts/airtime', airtime(3.5)).expect(200);
    expect((await listed('kenya')).length).toBe(before.kenya + 1);
    const records = await proxy.database.query<{ account: string | null }>(
      `SELECT record::json ->> 'account' AS account FROM intent WHERE id IN ($1, $2) ORDER BY id`,
      [idOf(paid), idOf(mains)],
    );
    expect(records.map(({ account }) => account)).toEqual(['kenya', null]); // none is main
  });

  it('shows a client with the scope `account` only its own account', async () => {
    await proxy.post(shop, '/payouts/airtime', airtime(7.75)).expect(200);
    const mains = first((await listed('main')).filter(({ valueInUSD }) => valueInUSD === 7.75));
    const list = await proxy.post(kiosk, '/account/transactions', {}).expect(200);
    expect(JSON.stringify(list.body)).not.toContain(mains.chiRef);
    const wallets = await proxy.get(kiosk, '/api/v0.1/wallets/list').expect(200);
    expect(JSON.stringify(wallets.body)).not.toContain('00000000-0000-4000-8000-000000000001');
    const one = await proxy.get(kiosk, `/api/v0.1/account/transaction?id=${mains.id}`);
    expect(JSON.stringify(one.body)).toContain('not found');
    const gone = await proxy
      .post(kiosk, '/account/delete-unpaid-transaction', { chiRef: mains.chiRef })
      .expect(400);
    expect(JSON.stringify(gone.body)).toContain('no transaction found');
  });

  it('resolves calls in doubt from the list of their own account', async () => {
    const ids = [await lose(shop, 11.25, '+254700000011'), await lose(kiosk, 11.25, '+254700000011')];
    const { reads } = await worker.get(ResolverService).runOnce();
    expect(reads.map(({ account, failure }) => [account, failure]).sort()).toEqual([
      ['kenya', null],
      ['main', null],
    ]);
    for (const id of ids) expect((await callOf(id)).outcome).toBe('confirmed');
    const readAccounts = await proxy.database.query<{ account: string | null }>(
      `SELECT DISTINCT r.account FROM settlement s,
        json_array_elements_text(s.record::json -> 'reads') AS e(id)
       JOIN source_read r ON r.id = e.id::uuid WHERE s.intent_id = $1`,
      [ids[1]],
    );
    expect(readAccounts).toEqual([{ account: 'kenya' }]);
  });

  it('does not match a payment of another account to a call in doubt', async () => {
    await proxy.post(shop, '/payouts/airtime', airtime(0.5)).expect(200); // both lists are current
    await proxy.post(kiosk, '/payouts/airtime', airtime(0.5)).expect(200);
    await control('post', '/faults', {
      fault: 'resetBeforeProcessing',
      operation: 'POST /payouts/airtime',
      nth: 1,
    });
    const id = idOf(await proxy.post(kiosk, '/payouts/airtime', airtime(13.75, '+254700000013')).expect(502));
    // The same payment is made in the upstream's portal, from the other account.
    const byPortal = askSandbox(proxy.sandbox.url)
      .post('/api/v0.1/payouts/airtime')
      .set('X-API-Key', UPSTREAM_KEY);
    await byPortal.send(airtime(13.75, '+254700000013')).expect(200);
    await proxy.post(kiosk, '/payouts/airtime', airtime(0.25)).expect(200); // its list goes on after the call
    await worker.get(ResolverService).runOnce();
    expect((await callOf(id)).outcome).toBe('not_executed');
  });

  it('follows up payouts in the list of their own account', async () => {
    const id = idOf(await proxy.post(kiosk, '/payouts/airtime', airtime(17.5)).expect(200));
    const { chiRef } = first((await listed('kenya')).filter(({ valueInUSD }) => valueInUSD === 17.5));
    await control('patch', `/transactions/${chiRef}`, { status: 'reversed' }).expect(200);
    await worker.get(FollowUpService).runOnce('main');
    expect((await callOf(id)).outcome).toBe('succeeded');
    await worker.get(FollowUpService).runOnce('kenya');
    expect((await callOf(id)).items).toMatchObject([{ state: 'reversed' }]);
  });

  describe('events of several accounts', () => {
    const tell = (path: string, secret: string, id: string) => {
      const [at, body] = [String(Math.floor(Date.now() / 1_000)), JSON.stringify({ issueID: `batch-${id}` })];
      const signature = createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64');
      return supertest(proxy.url)
        .post(path as '/hooks/upstream')
        .set({ 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` })
        .set('content-type', 'application/json')
        .send(body);
    };

    it('are verified with the secret of their account, and read back there', async () => {
      const id = randomUUID();
      await tell('/hooks/upstream/kenya', EVENT_SECRETS.main, id).expect(401);
      await tell('/hooks/upstream', EVENT_SECRETS.kenya, id).expect(401);
      await tell('/hooks/upstream/uganda', EVENT_SECRETS.kenya, id).expect(404);
      expect((await tell('/hooks/upstream/kenya', EVENT_SECRETS.kenya, id).expect(200)).body.status).toBe(
        'recorded',
      );
      const reads = () =>
        proxy.database.query<{ account: string }>('SELECT account FROM source_read WHERE subject = $1', [
          `batch-${id}`,
        ]);
      await eventually(async () => (await reads()).length > 0);
      expect(await reads()).toEqual([{ account: 'kenya' }]);
    });

    it('are recorded even if another account used their IDs', async () => {
      const id = randomUUID();
      for (const status of ['recorded', 'known']) {
        expect((await tell('/hooks/upstream/kenya', EVENT_SECRETS.kenya, id).expect(200)).body.status).toBe(
          status,
        );
      }
      expect((await tell('/hooks/upstream', EVENT_SECRETS.main, id).expect(200)).body.status).toBe(
        'recorded',
      );
    });
  });

  it('sets the account of a client at creation, and keeps it', async () => {
    const create = (body: object) =>
      supertest(proxy.url).post('/v1/clients').set('X-API-Key', operator).send(body);
    const unknown = await create({ name: 'till', scopes: ['read'], account: 'uganda' }).expect(400);
    expect(unknown.body.errors).toEqual([
      { pointer: '/account', detail: 'must be an upstream account: main, kenya' },
    ]);
    const { body } = await create({ name: 'till', scopes: ['read'], account: 'kenya' }).expect(201);
    expect(body).toMatchObject({ name: 'till', account: 'kenya' });
    const patch = supertest(proxy.url).patch('/v1/clients/till').set('X-API-Key', operator);
    expect((await patch.send({ account: 'main' }).expect(400)).body.errors).toMatchObject([
      { pointer: '/account' },
    ]);
    const moving = proxy.database.query("UPDATE client SET account = 'main' WHERE name = 'till'");
    await expect(moving).rejects.toThrow('a client keeps its upstream account');
  });

  it('refuses and records requests of clients whose account is not configured', async () => {
    const { key } = await proxy.app.get(ClientsService, { strict: false }).create('lost', ['pay', 'read'], {
      account: 'uganda',
    });
    const before = (await control('get', '/requests').expect(200)).body.length;
    const refused = await proxy.post(key, '/payouts/airtime', airtime(1)).expect(503);
    expect(refused.body.code).toBe('account_not_configured');
    expect((await callOf(idOf(refused))).refusal).toMatchObject({
      code: 'account_not_configured',
      status: 503,
    });
    await proxy.get(key, '/api/v0.1/info/assets').expect(503);
    expect((await control('get', '/requests').expect(200)).body.length).toBe(before);
  });
});
