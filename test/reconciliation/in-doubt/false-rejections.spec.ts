import { newId } from '../../../src/platform/database/ids';
import supertest from '../../support/http/supertest';
import { eventually } from '../../support/payments/paying';
import { forgetFalseRejections } from '../../support/payments/settling';
import { Lie, LyingLedger } from '../../support/reconciliation/lying-ledger';

const ERROR = { status: 'error', error: 'insufficient funds' };
const SECOND_FORM = { status: 'error', type: 'Transaction Error', code: 'TRANSACTION_FAILED', message: 'no' };
const FAILED_DATA = { status: 'success', data: { error: 'not found for that id' } };

/** An upstream whose errors contradict its own ledger never makes the proxy pay twice or over a cap. */
describe('a rejection that may be false', () => {
  let ledger: LyingLedger;
  let number = 0;

  beforeAll(async () => (ledger = await LyingLedger.start()));
  afterAll(() => ledger.paying.close());
  beforeEach(async () => {
    ledger.lie = undefined;
    ledger.quiet({ quietMs: 3_600_000, rejectedQuietMs: 0 });
    await forgetFalseRejections(ledger.paying.proxy);
  });

  const client = async (cap: number) => {
    const { id, key } = await ledger.paying.proxy.client(`c${(number += 1)}`, 'pay', 'read');
    await ledger.paying.proxy.database.query('UPDATE client SET daily_cap_usd = $2 WHERE id = $1', [id, cap]);
    return { id, key };
  };
  const phone = () => `+2547123${String((number += 1)).padStart(5, '0')}`;
  const item = (to: string, valueInUSD: number) => ({ countryToSend: 'Kenya', phoneNumber: to, valueInUSD });
  const pay = (key: string, to: string, usd: number, idempotencyKey: string = newId()) =>
    ledger.paying.proxy
      .post(key, '/payouts/airtime', { airtimes: [item(to, usd)] })
      .set('Idempotency-Key', idempotencyKey);
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const outcomeOf = async (key: string, id: string) =>
    (await ledger.paying.proxy.get(key, `/v1/calls/${id}`).expect(200)).body.outcome;
  const spent = async ({ id }: { id: string }) => {
    const sum = 'SELECT coalesce(sum(usd), 0)::float AS usd FROM spending WHERE client_id = $1';
    return (await ledger.paying.proxy.database.query<{ usd: number }>(sum, [id]))[0]?.usd;
  };

  const LIES: [name: string, status: number, body: object | string][] = [
    ['200 error', 200, ERROR],
    ['400 in the envelope', 400, ERROR],
    ['success with data.error', 200, FAILED_DATA],
    ['401', 401, ERROR],
    ['403 of a firewall', 403, '<html>'],
    ['429', 429, 'slow down'],
    ['500 in the envelope', 500, ERROR],
    ['500 in its second form', 500, SECOND_FORM],
  ];

  it.each(LIES)('admits no more than the cap if the upstream pays and says %s', async (_, status, body) => {
    const app = await client(60);
    ledger.lie = { status, body, pays: 'now' };
    const to = Array.from({ length: 5 }, phone);
    const ids: string[] = [];
    for (const one of to) ids.push(idOf(await pay(app.key, one, 30)));
    expect(to.map((one) => ledger.paidTo(one).length)).toEqual([1, 1, 0, 0, 0]);
    await ledger.round();
    for (const id of ids.slice(0, 2)) expect(await outcomeOf(app.key, id)).toBe('confirmed');
    expect(await spent(app)).toBe(60);
  });

  it.each(LIES)('pays once under one key if the upstream pays and says %s', async (_, status, body) => {
    const app = await client(100);
    ledger.lie = { status, body, pays: 'now' };
    const [to, key] = [phone(), newId()];
    const first = await pay(app.key, to, 10, key);
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const { headers, body: refusal } = await pay(app.key, to, 10, key).expect(409);
      expect(refusal).toMatchObject({ code: 'outcome_unknown', action: 'wait', first_call_id: idOf(first) });
      expect(refusal.error).toMatch(/Until \d{4}-\d\d-\d\dT[\d:.]+Z, it is not proven that nothing/);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect((await pay(app.key, to, 10).expect(409)).body.code).toBe('suspected_duplicate');
    }
    expect(ledger.paidTo(to)).toEqual([10]);
    await ledger.round();
    expect((await pay(app.key, to, 10, key).expect(200)).body).toMatchObject({ call_id: idOf(first) });
    expect(ledger.paidTo(to)).toEqual([10]);
  });

  it.each(LIES.filter(([, status]) => status < 500))(
    'is confirmed without other traffic after its quiet period: %s',
    async (_, status, body) => {
      const app = await client(100);
      ledger.lie = { status, body, pays: 'never' };
      const [to, key] = [phone(), newId()];
      const first = await pay(app.key, to, 10, key);
      expect([await outcomeOf(app.key, idOf(first)), await spent(app)]).toEqual(['unknown', 10]);
      ledger.quiet({ rejectedQuietMs: 3_600_000 });
      await ledger.round();
      expect(await outcomeOf(app.key, idOf(first))).toBe('unknown');
      ledger.quiet({ rejectedQuietMs: 0 });
      await ledger.round();
      expect([await outcomeOf(app.key, idOf(first)), await spent(app)]).toEqual(['not_executed', 0]);
      ledger.lie = undefined;
      expect(idOf(await pay(app.key, to, 10, key).expect(200))).not.toBe(idOf(first));
      expect(ledger.paidTo(to)).toEqual([10]);
    },
  );

  it.each([ERROR, SECOND_FORM])('takes the full quiet period after a 500 with %j', async (body) => {
    const app = await client(100);
    ledger.lie = { status: 500, body, pays: 'queued' };
    const [to, key] = [phone(), newId()];
    const first = await pay(app.key, to, 40, key).expect(500);
    ledger.lie = undefined;
    await pay(app.key, phone(), 1).expect(200); // a later call, which the listing shows
    await ledger.round();
    expect(await outcomeOf(app.key, idOf(first))).toBe('unknown');
    await pay(app.key, to, 40, key).expect(409);
    ledger.workOff();
    await ledger.round();
    expect(await outcomeOf(app.key, idOf(first))).toBe('confirmed');
    await pay(app.key, to, 40, key).expect(200);
    expect([ledger.paidTo(to), await spent(app)]).toEqual([[40], 41]);
  });

  describe('and turns up after the verdict that it was not executed', () => {
    /** Sends a payout that the upstream rejects, and pays only after the verdict. */
    const late = async (reused: boolean, status = 'paid') => {
      const app = await client(100);
      ledger.lie = { status: 500, body: ERROR, pays: 'queued' };
      const [to, key] = [phone(), newId()];
      const first = idOf(await pay(app.key, to, 40, key).expect(500));
      ledger.lie = undefined;
      ledger.quiet({ quietMs: 0 });
      await pay(app.key, phone(), 1).expect(200);
      await ledger.round();
      expect(await outcomeOf(app.key, first)).toBe('not_executed');
      if (reused) await pay(app.key, to, 40, key).expect(200);
      ledger.change(to, [status]); // of the second call
      ledger.workOff(status);
      await ledger.followUp();
      return { app, to, key, first };
    };

    it('is attributed, counts again and has its key again', async () => {
      const { app, to, key, first } = await late(false);
      expect([await outcomeOf(app.key, first), await spent(app)]).toEqual(['confirmed', 41]);
      expect(await ledger.acts('false_rejection')).toMatchObject([{ call_id: first }]);
      expect((await pay(app.key, to, 40, key).expect(200)).body).toMatchObject({ call_id: first });
      expect(ledger.paidTo(to)).toEqual([40]);
    });

    it('is attributed, counts again and raises key_paid_twice if its key was used again', async () => {
      const { app, to, first } = await late(true);
      expect([await outcomeOf(app.key, first), await spent(app)]).toEqual(['confirmed', 81]);
      expect(await ledger.acts('key_paid_twice')).toMatchObject([{ call_id: first }]);
      expect(await ledger.acts('false_rejection')).toMatchObject([{ call_id: first }]);
      expect(ledger.paidTo(to)).toEqual([40, 40]);
    });

    it('has its key again if the later payout failed, and raises the alarm once that is paid', async () => {
      const before = (await ledger.acts('key_paid_twice')).length;
      const { app, to, key, first } = await late(true, 'failed');
      for (const later of ['failed', 'paid']) {
        ledger.change(to, [later, 'paid']);
        await ledger.followUp();
        const sums = [(await ledger.acts('key_paid_twice')).length - before, await spent(app)];
        expect(sums).toEqual(later === 'paid' ? [1, 81] : [0, 41]);
      }
      expect(idOf(await pay(app.key, to, 40, key).expect(200))).toBe(first);
    });
  });

  describe('in an operation with a false rejection', () => {
    const lie = (pays: Lie['pays']): Lie => ({ status: 400, body: ERROR, pays });

    it('raises an alarm, and doubts its rejections for a day, but not those of others', async () => {
      const app = await client(100);
      ledger.lie = lie('now');
      const paid = idOf(await pay(app.key, phone(), 1).expect(400));
      await ledger.round();
      expect(await outcomeOf(app.key, paid)).toBe('confirmed');
      expect(await ledger.acts('false_rejection')).toMatchObject([
        { call_id: paid, after: '{"account":"main","operation":"POST /payouts/airtime"}' },
      ]);

      ledger.lie = lie('never');
      const [to, key] = [phone(), newId()];
      const doubted = idOf(await pay(app.key, to, 1, key).expect(400));
      const momos = [{ ...item(phone(), 1), momoCode: 'MPS', reference: '' }];
      const mobileMoney = await ledger.paying.proxy.post(app.key, '/payouts/mobile-money', { momos });
      await ledger.round();
      expect(await outcomeOf(app.key, idOf(mobileMoney))).toBe('not_executed');
      expect(await outcomeOf(app.key, doubted)).toBe('unknown');
      const { headers } = await pay(app.key, to, 1, key).expect(409);
      expect(Number(headers['retry-after'])).toBeGreaterThan(3_000); // the full quiet period
      await ledger.round();
      expect(await ledger.acts('false_rejection')).toHaveLength(1);
    });

    it('doubts a rejection in the round that finds the false one', async () => {
      const app = await client(100);
      ledger.lie = lie('never');
      const doubted = idOf(await pay(app.key, phone(), 1).expect(400));
      ledger.lie = lie('now');
      await pay(app.key, phone(), 1).expect(400);
      await ledger.round();
      expect(await outcomeOf(app.key, doubted)).toBe('unknown');
    });

    it('takes the full quiet period until the listed failure of a rejection is final', async () => {
      const app = await client(100);
      ledger.lie = lie('now');
      await pay(app.key, phone(), 1).expect(400);
      await ledger.round();
      ledger.lie = lie('queued');
      const id = idOf(await pay(app.key, phone(), 1).expect(400));
      ledger.workOff('failed');
      await ledger.round();
      expect([await outcomeOf(app.key, id), await spent(app)]).toEqual(['unknown', 2]);
      ledger.quiet({ quietMs: 0 });
      await ledger.round();
      expect(await spent(app)).toBe(1);
    });

    it('is shown in the overview and in the metrics', async () => {
      const app = await client(100);
      ledger.lie = lie('now');
      for (const one of [phone(), phone()]) await pay(app.key, one, 1).expect(400);
      await ledger.round();
      const { proxy, auditor } = ledger.paying;
      const overview = async () => (await proxy.get(auditor, '/v1/overview').expect(200)).body;
      await eventually(async () => (await overview()).doubted_operations.length > 0);
      const [doubted] = (await overview()).doubted_operations;
      expect(doubted).toMatchObject({ account: 'main', operation: 'POST /payouts/airtime', calls: 2 });
      const hours = (new Date(doubted!.until).getTime() - Date.now()) / 3_600_000;
      expect(hours).toBeGreaterThan(23);
      const metrics = await supertest(proxy.url).get('/metrics').expect(200);
      expect(metrics.text).toContain('payout_proxy_false_rejections 2');
    });

    it('is believed again after a day', async () => {
      const app = await client(100);
      await ledger.paying.proxy.database.query(
        `INSERT INTO activity (id, action, after, via, acted_at) VALUES ($1, 'false_rejection',
          '{"account":"main","operation":"POST /payouts/airtime"}', 'proxy', now() - interval '25 hours')`,
        [newId()],
      );
      ledger.lie = lie('never');
      const id = idOf(await pay(app.key, phone(), 1).expect(400));
      await ledger.round();
      expect(await outcomeOf(app.key, id)).toBe('not_executed');
    });
  });
});
