import { INestApplicationContext } from '@nestjs/common';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import supertest from '../../support/http/supertest';
import { answer } from '../../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../../support/payments/paying';

type ListedItem = Record<string, unknown> & { status: string | null };

/** The ledger behind states, caps and exports. */
describe('the settlement ledger', () => {
  let paying: PaymentScene;
  let worker: INestApplicationContext;
  let approver: string;
  let client: { id: string; key: string };
  let listed: ListedItem[] = [];
  let count = 0;
  /** Status words of the next answer, one per item. */
  let words: string[] = [];
  /** Additional fields of the next answer. */
  let additional: object = {};

  beforeAll(async () => {
    paying = await startPaying({ followUpEverySeconds: 0, checkCoverage: false });
    worker = await paying.proxy.startWorker();
    approver = (await paying.proxy.client('approver', 'approve', 'audit')).key;
    client = await paying.proxy.client('followed', 'pay', 'write', 'read');
  });
  afterAll(() => paying.close());
  beforeEach(async () => {
    words = [];
    additional = {};
    await paying.proxy.database.query('DELETE FROM spending');
    paying.upstream.behaviour = (request, response, socket) => {
      if (request.url.endsWith('/account/transactions')) {
        return answer(200, { status: 'success', data: listed })(request, response, socket);
      }
      const { credits = [] } = JSON.parse(request.body) as {
        credits?: { email: string; valueInUSD: number }[];
      };
      const paid = credits.slice(0, words.length || undefined).map(({ email, valueInUSD }, place) => {
        const id = `made-${(count += 1)}`;
        const issued = { issueID: 'issue', issueDate: new Date().toISOString(), type: 'credit' };
        return { chiRef: `ref-${id}`, id, ...issued, email, valueInUSD, status: words[place] ?? 'paid' };
      });
      listed.push(...paid);
      const reply = { status: 'success', data: { data: paid, error: 'None', ...additional } };
      return answer(200, reply)(request, response, socket);
    };
  });

  const pay = async (...usd: number[]) => {
    const credits = usd.map((valueInUSD) => ({ email: `person.${(count += 1)}@example.com`, valueInUSD }));
    const { headers } = await paying.proxy.post(client.key, '/payouts/credit', { credits });
    return headers['x-call-id'] ?? '';
  };
  const read = async (id: string) => (await paying.proxy.get(client.key, `/v1/calls/${id}`).expect(200)).body;
  const payout = async (id: string) =>
    (await paying.proxy.get(client.key, `/v1/payouts/${id}`).expect(200)).body;
  const states = async (id: string) => (await read(id)).items.map(({ state }) => state);
  const spent = async () => {
    const sum = 'SELECT coalesce(sum(usd), 0)::float AS usd FROM spending WHERE client_id = $1';
    return (await paying.proxy.database.query<{ usd: number }>(sum, [client.id]))[0]?.usd;
  };
  const follow = () => worker.get(FollowUpService).runOnce();
  /** Changes the upstream's listing of a call. */
  const change = async (id: string, status: string, more: object = {}) => {
    const refs = (await read(id)).items.map(({ upstream }) => upstream?.upstream_ref);
    listed = listed.map((one) => (refs.includes(one.chiRef as string) ? { ...one, status, ...more } : one));
  };

  it('reserves a payout, and shows it as paid', async () => {
    const id = await pay(2);
    expect(await read(id)).toMatchObject({ outcome: 'succeeded', items: [{ state: 'paid', next: 'none' }] });
    expect(await payout(`${id}.0`)).toMatchObject({
      id: `${id}.0`,
      call_id: id,
      state: 'paid',
      ledger: [
        { entry: 'reserved', from: 'available', to: 'reserved', amount_usd: '2', source: 'request' },
        { entry: 'paid', from: 'reserved', to: 'recipient', amount_usd: '2', source: 'answer' },
      ],
    });
    expect(await spent()).toBe(2);
  });

  it('releases failed payouts of an answer, and keeps those in doubt', async () => {
    words = ['paid', 'failed', 'AWAITING_REVIEW'];
    const id = await pay(1, 2, 4);
    expect(await states(id)).toEqual(['paid', 'failed', 'in_doubt']);
    expect(await spent()).toBe(5);
    // Fewer transactions than items: the state of the third one is unknown.
    words = ['paid', 'paid'];
    additional = { error: '1 of 3 items failed' };
    const partly = await pay(1, 2, 4);
    expect(await states(partly)).toEqual(['paid', 'paid', 'in_doubt']);
    expect(await spent()).toBe(12);
  });

  it('counts fees', async () => {
    const id = await pay(3);
    await change(id, 'paid', { fee: 0.3 });
    await follow();
    expect((await read(id)).items).toMatchObject([{ state: 'paid', fee_usd: '0.3' }]);
    expect(await spent()).toBe(3.3);
    await change(id, 'paid', { fee: 0.1 });
    await follow();
    expect(await spent()).toBe(3.1);
    await change(id, 'reversed', { fee: 0.1 });
    await follow();
    expect(await spent()).toBe(0);
  });

  it.each([
    ['failed', 'failed', 0],
    ['REVERSED', 'reversed', 0],
    ['Refunded', 'refunded', 0],
    ['expired', 'failed', 0],
    ['redeemed', 'paid', 5],
    ['pending', 'paid', 5], // the list lags
    ['ON_HOLD', 'paid', 5], // unknown word
  ])('follows a paid payout to %s: it is %s', async (word, state, usd) => {
    const id = await pay(5);
    await change(id, word);
    await follow();
    expect([await states(id), await spent()]).toEqual([[state], usd]);
  });

  it('follows a pending payout to its end, and a failed one to a late payment', async () => {
    words = ['pending'];
    const id = await pay(5);
    expect(await read(id)).toMatchObject({ items: [{ state: 'pending', next: 'wait' }] });
    for (const [word, state, usd] of [
      ['paid', 'paid', 5],
      ['failed', 'failed', 0],
      ['paid', 'paid', 5],
    ] as const) {
      await change(id, word);
      await follow();
      expect([await states(id), await spent()]).toEqual([[state], usd]);
    }
    const { ledger } = await payout(id);
    expect(ledger.map(({ entry }) => entry)).toEqual(['reserved', 'pending', 'paid', 'failed', 'paid']);
    // Each entry begins at the end of the previous one.
    expect(ledger.slice(1).map(({ from }) => from)).toEqual(ledger.slice(0, -1).map(({ to }) => to));
    const search = await paying.proxy.get(paying.auditor, `/v1/audit/calls/${id}`).expect(200);
    expect(search.body.settlements.map(({ source }) => source)).toEqual(['poll', 'poll', 'poll']);
  });

  it('reads a transaction again only for news', async () => {
    const id = await pay(1);
    await follow();
    expect(await follow()).toMatchObject({ changed: 0, settled: 0, failure: null });
    await change(id, 'failed');
    expect(await follow()).toMatchObject({ changed: 1, known: 1, settled: 1 });
  });

  it('detects a payment that the upstream had rejected', async () => {
    const usual = paying.upstream.behaviour;
    paying.upstream.behaviour = (request, response, socket) => {
      const isList = request.url.endsWith('/account/transactions');
      if (isList) return usual(request, response, socket);
      const { credits } = JSON.parse(request.body) as { credits: { email: string; valueInUSD: number }[] };
      const id = `lie-${(count += 1)}`;
      const issued = { issueID: `issue-${count}`, issueDate: new Date().toISOString(), type: 'credit' };
      listed.push({ ...issued, ...credits[0], chiRef: id, id, status: 'paid' });
      return answer(400, { status: 'error', error: 'not enough' })(request, response, socket);
    };
    const id = await pay(6, 1);
    expect([await states(id), await spent()]).toEqual([['in_doubt', 'in_doubt'], 7]);
    await follow();
    expect([await states(id), await spent()]).toEqual([['paid', 'in_doubt'], 7]);
    expect(await read(id)).toMatchObject({ outcome: 'unknown', settlements: [{ source: 'resolver' }] });
    // From now on, its name is used to follow it.
    await change(id, 'failed');
    await follow();
    expect([await states(id), await spent()]).toEqual([['failed', 'in_doubt'], 1]);
  });

  it("keeps a person's settlement based on the same status word", async () => {
    const id = await pay(5);
    const settle = (outcome: string) =>
      supertest(paying.proxy.url)
        .post(`/v1/calls/${id}/resolution`)
        .set('X-API-Key', approver)
        .send({ outcome, reason: 'the telco says so', supersedes: id });
    await settle('failed').expect(200);
    await change(id, 'paid', { fee: 0 });
    await follow();
    expect([await states(id), await spent()]).toEqual([['failed'], 0]);
    await change(id, 'refunded');
    await follow();
    expect(await states(id)).toEqual(['refunded']);
  });

  it('finds a payout by its ID, its call and its transaction, for its own client only', async () => {
    const id = await pay(1);
    const ref = (await read(id)).items[0]?.upstream?.upstream_ref ?? '';
    for (const name of [`${id}.0`, id, ref, `${id.toUpperCase()}.0`])
      expect((await payout(name)).call_id).toBe(id);
    const several = await pay(1, 2);
    for (const name of [`${id}.1`, several, 'x', `${id}.0.0`, `${id}.-1`, '%2e%2e']) {
      await paying.proxy.get(client.key, `/v1/payouts/${name}`).expect(404);
    }
    await paying.proxy.get(paying.app, `/v1/payouts/${id}`).expect(404);
    await paying.proxy.get(paying.app, `/v1/payouts/${ref}`).expect(404);
  });

  it('sums up paid amounts, and lists unpaid payouts', async () => {
    const { proxy } = paying;
    client = await proxy.client('summed', 'pay', 'read');
    const id = await pay(7, 2);
    words = ['failed', 'paid'];
    const partly = await pay(4, 1);
    await change(id, 'reversed');
    await follow();
    const sum = async (query: string) => {
      const path = `/v1/audit/summary?group_by=operation&client=summed${query}` as const;
      return (await proxy.get(paying.auditor, path).expect(200)).body.groups[0];
    };
    expect(await sum('')).toMatchObject({ calls: 2, asked_usd: '14', paid_usd: '1', returned_usd: '13' });
    const large = { asked_usd: '13', paid_usd: '0', returned_usd: '13' };
    expect(await sum('&min_item_usd=2')).toMatchObject(large);
    const entries = 'SELECT item_entry AS of FROM search_entry WHERE call_id = ANY ($1) ORDER BY call_id';
    const found = await proxy.database.query<{ of: (string | null)[] }>(entries, [[id, partly]]);
    expect(found.map(({ of }) => of.join())).toEqual(['reversed,reversed', 'failed,']);
  });

  it('exports the state of each payout', async () => {
    const id = await pay(7);
    await change(id, 'reversed');
    await follow();
    const { text } = await paying.proxy
      .get(paying.auditor, '/v1/audit/export?format=csv&what=items')
      .expect(200);
    const [header = '', ...lines] = text.split('\r\n');
    const line = lines.find((one) => one.startsWith(id))?.split(',') ?? [];
    expect(line[header.split(',').indexOf('state')]).toBe('reversed');
    expect(line[header.split(',').indexOf('state_source')]).toBe('poll');
  });

  it('begins each entry at the end of the previous one', async () => {
    const broken = `SELECT FROM (
        SELECT from_account, lag(to_account) OVER (
          PARTITION BY call_id, position ORDER BY number, source <> 'request') AS before
        FROM ledger_entry WHERE entry <> 'fee'
      ) AS e WHERE before <> from_account`;
    expect(await paying.proxy.database.query(broken)).toEqual([]);
    expect((await paying.proxy.database.query('SELECT FROM ledger_entry')).length).toBeGreaterThan(40);
  });
});
