import { INestApplicationContext } from '@nestjs/common';
import { ContradictionsService } from '../../../src/reconciliation/book/contradictions.service';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { answer, Behaviour, reset } from '../../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../../support/payments/paying';
import { Transaction } from '../../support/reconciliation/lying-ledger';

type Shown = Transaction & { reference?: string };

/** An upstream whose answers name a transaction that the listing shows as that of another payment. */
describe('a payout whose answer names the transaction of another payment', () => {
  let paying: PaymentScene;
  let worker: INestApplicationContext;
  let listed: Shown[] = [];
  let count = 0;

  beforeEach(async () => {
    listed = [];
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    paying = await startPaying({ resolverQuietSeconds: 3_600, ...never });
    worker = await paying.proxy.startWorker();
    Object.assign(worker.get(PollService).rules, { quietMs: 0, rejectedQuietMs: 0 });
  });
  afterEach(() => paying.close());

  const shown = (phoneNumber: string, more: Partial<Shown> = {}): Shown => ({
    id: `id-${(count += 1)}`,
    chiRef: `ref-${count}`,
    issueID: `issue-${count}`,
    issueDate: new Date().toISOString(),
    type: 'momo',
    status: 'paid',
    phoneNumber,
    valueInUSD: 2.5,
    ...more,
  });
  /** Pays, and returns the ID of the call. Its payout has the call's ID as its reference. */
  const pay = async (payout: (id: string) => Behaviour, phoneNumber: string, valueInUSD = 2.5) => {
    let reference = '';
    paying.upstream.behaviour = (request, response, socket) => {
      if (request.url.endsWith('/account/transactions'))
        return answer(200, { status: 'success', data: listed })(request, response, socket);
      ({ reference = '' } = (JSON.parse(request.body) as { momos: { reference?: string }[] }).momos[0] ?? {});
      return payout(reference)(request, response, socket);
    };
    const item = { countryToSend: 'Kenya', phoneNumber, valueInUSD, momoCode: 'MPS', reference: '' };
    const { headers } = await paying.proxy.post(paying.app, '/payouts/mobile-money', { momos: [item] });
    return { call: headers['x-call-id'] ?? '', reference };
  };
  const answering = (row: Shown) => (): Behaviour =>
    answer(200, { status: 'success', data: { credits: [row] } });
  const lost = () => reset;
  const follow = async () => {
    await worker.get(FollowUpService).runOnce();
    await worker.get(ContradictionsService).handle(new AbortController().signal);
  };
  const resolve = () => worker.get(ResolverService).runOnce();
  const stateOf = async (call: string) =>
    (await paying.proxy.get(paying.app, `/v1/payouts/${call}.0`).expect(200)).body.state;
  /** Lists an old row, and a payout from after the quiet period, which show that the listing is current. */
  const listCurrent = async (...rows: Shown[]) => {
    const later = shown(PEOPLE.later);
    await pay(answering(later), PEOPLE.later);
    listed = [shown(PEOPLE.later, { issueDate: '2026-01-01T00:00:00Z' }), later, ...rows];
  };
  const alarms = async () => {
    const rows = await paying.proxy.database.query<{ kind: string }>(
      `SELECT after::json ->> 'kind' AS kind FROM activity WHERE action = 'transaction_contradicted'`,
    );
    return rows.map(({ kind }) => kind);
  };
  const PEOPLE = { one: '+254712345601', other: '+254712345602', later: '+254712345603' };

  /** How the listing shows the transaction that the answer names. */
  const REFUTATIONS: [string, Partial<Shown>][] = [
    ['recipient', { phoneNumber: PEOPLE.other }],
    ['type', { type: 'airtime' }],
    ['amount', { valueInUSD: 3 }],
  ];

  describe.each(REFUTATIONS)('by its %s', (kind, other) => {
    it.each(['paid', 'failed'])('is in doubt, and %s there frees nothing', async (status) => {
      const row = shown(PEOPLE.one);
      const { call } = await pay(answering(row), PEOPLE.one);
      expect(await stateOf(call)).toBe('paid');
      await listCurrent({ ...row, ...other, status });
      await follow();
      expect(await stateOf(call)).toBe('in_doubt');
      await resolve();
      await resolve();
      expect(await stateOf(call)).toBe('in_doubt');
      expect(await alarms()).toEqual([kind]);
      const { body } = await paying.proxy.get(paying.app, `/v1/calls/${call}`).expect(200);
      expect(body.doubt?.verdict).toBe('ambiguous');
      expect(body.doubt?.transactions[0]?.upstream_ref).toBe(row.chiRef);
    });

    it('has its own transaction once it is listed', async () => {
      const row = shown(PEOPLE.one);
      const { call, reference } = await pay(answering(row), PEOPLE.one);
      listed = [{ ...row, ...other, status: 'failed' }];
      await follow();
      expect(await stateOf(call)).toBe('in_doubt');
      const own = shown(PEOPLE.one, { reference });
      listed.push(own);
      await resolve();
      expect(await stateOf(call)).toBe('paid');
      own.status = 'reversed';
      await follow();
      expect(await stateOf(call)).toBe('reversed');
    });

    it('is in doubt, though the listing was read before the answer', async () => {
      const row = shown(PEOPLE.one);
      const early = { ...row, ...other, status: 'failed' };
      listed = [early];
      await pay(answering(shown(PEOPLE.later)), PEOPLE.later);
      await follow();
      listed = []; // The rules compare without another sighting.
      const { call } = await pay(answering(row), PEOPLE.one);
      await follow();
      expect(await stateOf(call)).toBe('in_doubt');
      await listCurrent(early);
      await resolve();
      expect([await stateOf(call), await alarms()]).toEqual(['in_doubt', [kind]]);
    });

    it.each([0, 1])('stays paid, if the listing shows its own row too, in place %i', async (place) => {
      const row = shown(PEOPLE.one);
      const { call } = await pay(answering(row), PEOPLE.one);
      listed = [{ ...row, ...other, status: 'failed' }].toSpliced(place, 0, row);
      await follow();
      await resolve();
      expect([await stateOf(call), await alarms()]).toEqual(['paid', [kind]]);
      row.status = 'reversed';
      await follow();
      expect(await stateOf(call)).toBe('reversed');
    });
  });

  it.each([
    [2.51, 'after'],
    [2.500001, 'after'],
    [2.500001, 'before'],
  ])('has its own before one of nearly its amount, %d, listed %s its answer', async (valueInUSD, when) => {
    const other = await pay(when === 'after' ? lost : answering(shown(PEOPLE.one)), PEOPLE.one, valueInUSD);
    const row = shown(PEOPLE.one);
    const near = { ...row, valueInUSD, status: 'reversed' };
    if (when === 'before') {
      listed = [near];
      await follow();
    }
    const { call } = await pay(answering(row), PEOPLE.one);
    listed = [near, shown(PEOPLE.one)];
    await follow();
    await resolve();
    expect([await stateOf(other.call), await stateOf(call)]).toEqual([
      when === 'after' ? 'reversed' : 'paid',
      'paid',
    ]);
  });

  it.each(['before', 'after'])('is in doubt, if likeness gives it to the other payment %s', async (when) => {
    const row = shown(PEOPLE.one);
    const { call: other } = await pay(lost, PEOPLE.other);
    listed = [{ ...row, phoneNumber: PEOPLE.other }];
    if (when === 'before') {
      await resolve();
      await follow(); // From now on, the row is not news.
    }
    const { call } = await pay(answering(row), PEOPLE.one);
    for (let turn = 0; turn < 3; turn += 1) await follow();
    expect([await stateOf(other), await stateOf(call)]).toEqual(['paid', 'in_doubt']);
    expect((await alarms()).at(-1)).toBe('recipient');
  });

  it('by the ID of another call is in doubt, and that call has its transaction', async () => {
    const first = await pay(lost, PEOPLE.one);
    const one = shown(PEOPLE.one);
    const second = await pay(answering(one), PEOPLE.one);
    await listCurrent({ ...one, reference: first.reference });
    await follow();
    await resolve();
    expect([await stateOf(first.call), await stateOf(second.call)]).toEqual(['paid', 'in_doubt']);
    listed.push(shown(PEOPLE.one, { reference: second.reference }));
    await resolve();
    expect([await stateOf(first.call), await stateOf(second.call)]).toEqual(['paid', 'paid']);
    expect(await alarms()).toEqual(['own_id']);
  });

  it('stays paid if a listing contradicts an earlier one', async () => {
    const row = shown(PEOPLE.one);
    const { call } = await pay(answering(row), PEOPLE.one);
    listed = [row];
    await follow();
    listed = [{ ...row, phoneNumber: PEOPLE.other, status: 'failed' }];
    await follow();
    await resolve();
    expect([await stateOf(call), await alarms()]).toEqual(['paid', ['recipient']]);
  });

  it('takes over a transaction that was listed before its answer', async () => {
    const { call: other } = await pay(answering(shown(PEOPLE.other)), PEOPLE.other);
    const row = shown(PEOPLE.one);
    listed = [row];
    await follow();
    const { call } = await pay(answering(row), PEOPLE.one);
    await follow();
    row.status = 'reversed';
    await follow();
    expect([await stateOf(other), await stateOf(call), await alarms()]).toEqual(['paid', 'reversed', []]);
  });
});
