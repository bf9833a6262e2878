import { Decimal } from 'decimal.js';
import { ClientsService } from '../../src/access/clients/clients.service';
import { Limits } from '../../src/access/clients/limits/limits';
import { removeExpired } from '../support/databases/expiry';
import supertest from '../support/http/supertest';
import { answer } from '../support/network/fake-upstream';
import { ApprovalScene, startApproving } from '../support/payments/approving';
import { settleByHand } from '../support/payments/settling';
import { TestProxy } from '../support/processes/proxy';
import { editRecord } from '../support/records/documents';

const usd = (text: string) => new Decimal(text);

/** Limits of a client that depend on what it has paid before. */
describe('limits over time', () => {
  let approving: ApprovalScene;
  let clients: ClientsService;
  let count = 0;

  beforeAll(async () => {
    approving = await startApproving();
    clients = approving.proxy.app.get(ClientsService, { strict: false });
  });
  afterAll(() => approving.close());
  beforeEach(() => approving.reset());

  async function client(limits: Partial<Limits>) {
    const made = await approving.proxy.client(`over-time-${(count += 1)}`, 'pay', 'read');
    await clients.update(made.name, limits);
    return made;
  }

  let phones = 0;
  const newPhone = () => `+2547000${String(10_000 + (phones += 1))}`;
  const items = (...payouts: [phone: string, usd: number][]) => ({
    airtimes: payouts.map(([phoneNumber, valueInUSD]) => ({
      countryToSend: 'Kenya',
      phoneNumber,
      valueInUSD,
    })),
  });
  let keys = 0;
  const pay = (key: string, body: object, proxy: TestProxy = approving.proxy) =>
    proxy.post(key, '/payouts/airtime', body).set('Idempotency-Key', `over-time-${(keys += 1)}`);
  const statuses = async (answers: PromiseLike<{ status: number }>[]) =>
    (await Promise.all(answers)).map(({ status }) => status).sort();
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const approval = async (id: string) =>
    (await approving.proxy.get(approving.approver.key, `/v1/approvals/${id}`).expect(200)).body;
  /** Makes a call look as if it had been requested so many days earlier. */
  const daysEarlier = (id: string, days: number) =>
    editRecord(approving.proxy.database, 'intent', id, (record) => {
      const at = new Date(Date.parse(record.recorded_at ?? '') - days * 86_400_000).toISOString();
      return { ...record, recorded_at: at, ...(record.reserved_on && { reserved_on: at.slice(0, 10) }) };
    });

  it('hold payouts over the daily threshold of a recipient, whatever the size of each', async () => {
    const { key } = await client({ approvalOverUsd: usd('50'), approvalOverRecipientDayUsd: usd('100') });
    const phone = newPhone();
    const sent = [];
    for (let n = 0; n < 6; n += 1) sent.push((await pay(key, items([phone, 50]))).status);
    expect(sent).toEqual([200, 200, 202, 202, 202, 202]);
    await pay(key, items([newPhone(), 50])).expect(200);
    const held = await pay(key, items([phone, 0.000001])).expect(202);
    expect((await approval(idOf(held))).approval).toMatchObject({ held_for: 'over_recipient_threshold' });
  });

  it('hold payouts over the daily threshold of the client, including held calls', async () => {
    const { key } = await client({ approvalOverDayUsd: usd('100') });
    await pay(key, items([newPhone(), 90])).expect(200);
    const held = await pay(key, items([newPhone(), 20])).expect(202);
    expect((await approval(idOf(held))).approval).toMatchObject({ held_for: 'over_daily_threshold' });
    await pay(key, items([newPhone(), 5])).expect(202);
    await approving.decide('reject', idOf(held)).expect(200);
    await pay(key, items([newPhone(), 5])).expect(200);
  });

  it('refuse payouts over the daily limit of a recipient, and name each item', async () => {
    const { key } = await client({ maxRecipientDayUsd: usd('100') });
    const [phone, other] = [newPhone(), newPhone()];
    await pay(key, items([phone, 60])).expect(200);
    const { body } = await pay(key, items([other, 90], [phone, 30], [phone, 10.5])).expect(403);
    expect(body).toMatchObject({ code: 'cap_exceeded', errors_total: 2 });
    expect(body.errors?.map(({ pointer }) => pointer)).toEqual([
      '/airtimes/1/valueInUSD',
      '/airtimes/2/valueInUSD',
    ]);
    expect(JSON.stringify([body.error, body.errors])).not.toContain('60');
    await pay(key, items([other, 90], [phone, 30], [phone, 10])).expect(200);
  });

  it('are not exceeded for a recipient by two concurrent proxies', async () => {
    const { id, key } = await client({ maxRecipientDayUsd: usd('100') });
    const phone = newPhone();
    const answers = Array.from({ length: 40 }, (_, n) =>
      pay(key, items([phone, 7 + n / 100]), n % 2 === 0 ? approving.proxy : approving.second),
    );
    expect(new Set(await statuses(answers))).toEqual(new Set([200, 403]));
    const [row] = await approving.query<{ usd: string }>(
      'SELECT sum(total_usd)::text AS usd FROM intent WHERE client_id = $1',
      [id],
    );
    expect(Number(row?.usd)).toBeLessThanOrEqual(100);
    expect(Number(row?.usd)).toBeGreaterThan(100 - 7.4);
  });

  it('exclude a rejected payout once it is verified', async () => {
    const { key } = await client({ maxRecipientDayUsd: usd('100') });
    const phone = newPhone();
    approving.upstream.behaviour = answer(400, { status: 'error', error: 'no such number' });
    const rejected = await pay(key, items([phone, 80])).expect(400);
    approving.upstream.behaviour = answer(200, { status: 'success', data: { error: 'None' } });
    await pay(key, items([phone, 100])).expect(403);
    await settleByHand(approving.proxy, rejected);
    await pay(key, items([phone, 100])).expect(200);
    await pay(key, items([phone, 1])).expect(403);
  });

  it('reset on the next day', async () => {
    const { key } = await client({ maxRecipientDayUsd: usd('100') });
    const phone = newPhone();
    await daysEarlier(idOf(await pay(key, items([phone, 100])).expect(200)), 1);
    await pay(key, items([phone, 100])).expect(200);
    await pay(key, items([phone, 1])).expect(403);
  });

  it('count each client separately, and only the paid recipient', async () => {
    const [first, second] = [
      await client({ maxRecipientDayUsd: usd('5') }),
      await client({ maxRecipientDayUsd: usd('5') }),
    ];
    const credit = (email: string) => ({ credits: [{ email, valueInUSD: 5 }] });
    const post = (key: string, email: string) => approving.proxy.post(key, '/payouts/credit', credit(email));
    await post(first.key, 'ada.cap@example.com').expect(200);
    await post(second.key, 'ada.cap@example.com').expect(200);
    await post(first.key, 'ADA.cap@example.com').expect(403);
  });

  it('hold an equal payout within the configured days, and show the earlier call', async () => {
    const { key } = await client({ holdDuplicatesDays: 7 });
    const phone = newPhone();
    const earlier = idOf(await pay(key, items([phone, 3])).expect(200));
    await daysEarlier(earlier, 6);
    await pay(key, items([phone, 4])).expect(200);
    const held = idOf(await pay(key, items([newPhone(), 3], [phone, 3])).expect(202));
    expect((await approval(held)).approval).toMatchObject({
      held_for: 'seen_before',
      earlier_call_id: earlier,
    });
    await approving.decide('reject', held).expect(200);
    await daysEarlier(earlier, 2);
    await pay(key, items([phone, 3])).expect(200);
  });

  it('are checked again at approval, and can refuse it', async () => {
    const { key, name } = await client({ maxRecipientDayUsd: usd('100'), approvalOverUsd: usd('50') });
    const phone = newPhone();
    const held = idOf(await pay(key, items([phone, 60])).expect(202));
    await pay(key, items([phone, 50])).expect(403); // a held call counts
    await pay(key, items([phone, 40])).expect(200);
    await clients.update(name, { maxRecipientDayUsd: usd('99.999999') });
    const refused = await approving.decide('approve', held).expect(403);
    expect(refused.body).toMatchObject({
      code: 'cap_exceeded',
      errors: [{ pointer: '/airtimes/0/valueInUSD' }],
    });
    await clients.update(name, { maxRecipientDayUsd: usd('100') });
    await approving.decide('approve', held).expect(200);
    await pay(key, items([phone, 0.000001])).expect(403);
  });

  it('match their preview', async () => {
    const limits = {
      maxRecipientDayUsd: usd('20'),
      approvalOverRecipientDayUsd: usd('10'),
      holdDuplicatesDays: 30,
    };
    const { key } = await client(limits);
    const phone = newPhone();
    const preview = async (amount: number) => {
      const request = supertest(approving.proxy.url)
        .post('/v1/preview/payouts/airtime')
        .set('X-API-Key', key);
      return (await request.send(items([phone, amount])).expect(200)).body;
    };
    const earlier = idOf(await pay(key, items([phone, 6])).expect(200));
    expect(await preview(4)).toMatchObject({ would: 'be_sent', approval: null });
    expect((await preview(4.5)).approval).toEqual({
      reason: 'over_recipient_threshold',
      threshold_usd: '10',
      earlier_call_id: null,
    });
    await clients.update(`over-time-${count}`, { approvalOverRecipientDayUsd: null });
    expect((await preview(6)).approval).toMatchObject({ reason: 'seen_before', earlier_call_id: earlier });
    expect((await preview(14.5)).refusal).toMatchObject({ errors: [{ pointer: '/airtimes/0/valueInUSD' }] });
  });

  it('store only hashes, as long as needed, and nothing for other clients', async () => {
    const rows = (id: string) =>
      approving.query('SELECT length(recipient) AS bytes FROM recipient_payment WHERE intent_id = $1', [id]);
    const [none, some] = [await client({}), await client({ holdDuplicatesDays: 3 })];
    expect(await rows(idOf(await pay(none.key, items([newPhone(), 3])).expect(200)))).toEqual([]);
    const id = idOf(await pay(some.key, items([newPhone(), 3])).expect(200));
    await removeExpired(approving.proxy);
    expect(await rows(id)).toEqual([{ bytes: 32 }]);
    await approving.query('UPDATE recipient_payment SET kept_until = kept_until - 4 WHERE intent_id = $1', [
      id,
    ]);
    await removeExpired(approving.proxy);
    expect(await rows(id)).toEqual([]);
  });
});
