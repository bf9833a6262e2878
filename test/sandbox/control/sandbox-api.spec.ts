import { Decimal } from 'decimal.js';
import { SAMPLE_OPERATIONS } from '../../../src/admin/sandbox-api/samples';
import { OPERATIONS } from '../../../src/operations/catalogue/catalogue';
import { MAGIC } from '../../../src/sandbox/behaviour/magic-recipients';
import { FAULTS } from '../../../src/sandbox/faults/table';
import supertest from '../../support/http/supertest';
import { DEMO, SUB_ACCOUNT } from '../../support/sandbox/sandbox';
import { startSandboxApi, TestSandboxApi } from '../../support/sandbox/sandbox-api';

const AIRTIME = 'POST /payouts/airtime';

/** A newcomer's first steps, with a real sandbox. */
describe('the sandbox API', () => {
  let api: TestSandboxApi;

  beforeAll(async () => void (api = await startSandboxApi()));
  afterEach(async () => {
    await api.ask('delete', '/faults').expect(204);
    api.expectNoSecrets();
  });
  afterAll(() => api.close());

  const approve = (id: string, key: string) =>
    supertest(api.proxy.url)
      .post(`/v1/approvals/${id}/approve`)
      .set('X-API-Key', key)
      .send({ reason: 'A sample.' });

  it('shows the wallets, the kinds of fault, magic recipients and a sample of each kind', async () => {
    const { url, wallets, faults, kinds, magic_recipients, samples } = await api.look();
    expect(url).toBe(api.sandboxUrl);
    expect(wallets).toHaveLength(9);
    expect(wallets[2]).toEqual({
      account_id: DEMO,
      account: 'Demo account',
      parent_id: null,
      wallet: 'airtime',
      currency: 'USD',
      balance: '10000',
    });
    expect(wallets[3]).toMatchObject({
      account: 'Field office North',
      parent_id: DEMO,
      wallet: 'chi',
      balance: '0',
    });
    expect(faults).toEqual([]);
    expect(kinds.map(({ fault }) => fault)).toEqual(Object.keys(FAULTS));
    expect(kinds[1]).toEqual({
      fault: 'noResponse',
      does: FAULTS.noResponse.does,
      processed: true,
      chooses_processed: true,
      settings: [],
    });
    expect(kinds[0]!.settings).toEqual([
      { name: 'ms', default: 3_000, must: 'a whole number from 0 to 600000' },
    ]);
    expect(magic_recipients.map(({ name }) => name)).toEqual(Object.keys(MAGIC));
    expect(magic_recipients[3]).toEqual({
      name: 'failed',
      phone_number: '+254799990104',
      email: 'failed@sandbox.example',
      twitter: '@sandbox_failed',
      does: 'its item fails alone and costs nothing',
    });
    expect(samples.map(({ operation }) => operation)).toEqual(SAMPLE_OPERATIONS);
  });

  it.each([
    [AIRTIME, 'airtime', '-1.5'],
    ['POST /payouts/mobile-money', 'momo', '-2.5'],
    ['POST /payouts/credit', 'chi', '-3'],
    ['POST /payouts/initiate-credit', 'chi', '0'],
    ['POST /send', 'chi', '0'],
    ['POST /account/transfer', 'airtime', '-6'],
    ['POST /wallets/transfer', 'momo', '-7'],
    ['POST /collections/mobile-money/collect', 'momo', undefined],
  ] as const)('sends the sample of %s like an app', async (operation, wallet, change) => {
    const before = await api.balance(DEMO, wallet);
    const answer = await api.send(operation);
    expect(answer).toMatchObject({ status: 200, replayed: false, body: { status: 'success' } });
    const moved = (await api.balance(DEMO, wallet)).minus(before);
    if (change === undefined) expect(moved.greaterThan(0)).toBe(true);
    else expect(moved.toFixed()).toBe(change);
    if (change === '0') expect(JSON.stringify(answer.body)).toMatch(/"\w+Link":"http/);
    expect(await api.record(answer.call_id)).toMatchObject({
      operation,
      outcome: 'succeeded',
      client: { name: 'app' },
      idempotency_key: answer.idempotency_key,
    });
  });

  it('has samples of all paying operations', () => {
    const paying = Object.entries(OPERATIONS).filter(([, { effect }]) => effect === 'pay');
    expect(SAMPLE_OPERATIONS).toEqual(expect.arrayContaining(paying.map(([name]) => name)));
  });

  it('sends transfers to existing sub-accounts', async () => {
    expect((await api.sample('POST /account/transfer')).body.receiver).toBe(SUB_ACCOUNT);
    const before = await api.balance(SUB_ACCOUNT, 'airtime');
    await api.send('POST /account/transfer');
    expect((await api.balance(SUB_ACCOUNT, 'airtime')).minus(before).toFixed()).toBe('6');
  });

  it('shows the response of a replay, and of a refused app', async () => {
    const first = await api.send(AIRTIME, { idempotency_key: 'sample-1' });
    expect(first).toMatchObject({ idempotency_key: 'sample-1', replayed: false });
    const before = await api.balance(DEMO, 'airtime');
    expect(await api.send(AIRTIME, { idempotency_key: '"sample-1"' })).toEqual({ ...first, replayed: true });
    expect(await api.balance(DEMO, 'airtime')).toEqual(before);
    const refused = await api.send(AIRTIME, { body: { airtimes: [] } });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ pointer: '/airtimes' }] },
    });
    expect((await api.record(refused.call_id)).outcome).toBe('refused');
  });

  it('waits for an approval required for the app', async () => {
    await api.clients.update('app', { approvalOverUsd: new Decimal(1) });
    const held = await api.send(AIRTIME);
    expect(held).toMatchObject({ status: 202, body: { status: 'pending_approval', call_id: held.call_id } });
    await api.clients.update('app', { approvalOverUsd: null });
    expect((await approve(held.call_id, api.keys.admin ?? '').expect(200)).body.outcome).toBe('succeeded');
  });

  it('records the person of a sample, and rejects their approval', async () => {
    const { key } = await api.clients.issueKey('admin', { person: 'ada' });
    const { operation, body } = await api.sample(AIRTIME);
    await api.clients.update('app', { approvalOverUsd: new Decimal(1) });
    const { body: held } = await api.ask('post', '/payouts', { operation, body }, key).expect(200);
    await api.clients.update('app', { approvalOverUsd: null });
    expect((await api.record(held.call_id)).actor).toBe('ada');
    expect((await approve(held.call_id, key).expect(403)).body.code).toBe('own_approval');
    const { key: others } = await api.clients.issueKey('approver', { person: 'bob' });
    expect((await approve(held.call_id, others).expect(200)).body.outcome).toBe('succeeded');
  });

  it('turns faults on for the next sample, and off again', async () => {
    const request = { fault: 'unauthorized', operation: AIRTIME, nth: 1 };
    const { body: fault } = await api.ask('post', '/faults', request).expect(201);
    expect(fault).toEqual({
      ...request,
      id: expect.any(Number),
      probability: null,
      seed: null,
      processed: false,
      settings: {},
      struck: 0,
    });
    expect(await api.send('POST /payouts/mobile-money')).toMatchObject({ status: 200 });
    const before = await api.balance(DEMO, 'airtime');
    const struck = await api.send(AIRTIME);
    expect(struck).toMatchObject({ status: 502, body: { status: 'error', code: 'upstream_auth' } });
    expect((await api.record(struck.call_id)).outcome).toBe('unknown');
    expect(await api.balance(DEMO, 'airtime')).toEqual(before);
    expect((await api.look()).faults).toEqual([{ ...fault, struck: 1 }]);

    await api.ask('post', '/faults', { ...request, nth: 2 }).expect(201);
    await api.ask('delete', `/faults/${fault.id}`).expect(204);
    expect((await api.look()).faults).toEqual([expect.objectContaining({ nth: 2 })]);
    expect(await api.send(AIRTIME)).toMatchObject({ status: 200 });
  });

  it('shows a call in doubt after no response from the sandbox', async () => {
    await api.ask('post', '/faults', { fault: 'noResponse' }).expect(201);
    const lost = await api.send(AIRTIME);
    expect(lost).toMatchObject({ status: 504, body: { code: 'outcome_unknown', call_id: lost.call_id } });
    expect((await api.record(lost.call_id)).outcome).toBe('unknown');
    await api.ask('delete', '/faults').expect(204);
    expect((await api.look()).faults).toEqual([]);
  });

  it('passes on probabilities and settings of faults', async () => {
    const request = { fault: 'lateProcessing', probability: 0.5, seed: 7, settings: { ms: 10, status: 500 } };
    const { body } = await api.ask('post', '/faults', request).expect(201);
    expect(body).toMatchObject({ ...request, nth: null, operation: null, processed: true });
  });
});
