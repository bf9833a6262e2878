import { QuirkName } from '../../../src/sandbox/behaviour/behaviour';
import { first } from '../../support/examples/first';
import { TestSandbox, startSandbox } from '../../support/sandbox/sandbox';

const item = (phoneNumber = '+254712345678') => ({ countryToSend: 'Kenya', phoneNumber, valueInUSD: 0.5 });

describe("the sandbox's quirk", () => {
  let sandbox: TestSandbox;

  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.close());

  /** Returns the answers of `ask` with and without the quirk. */
  async function both<T>(name: QuirkName, ask: () => Promise<T>): Promise<{ on: T; off: T }> {
    const { quirks } = sandbox.behaviour;
    const before = quirks[name];
    quirks[name] = true;
    const on = await ask();
    quirks[name] = false;
    const off = await ask();
    quirks[name] = before;
    return { on, off };
  }
  const airtime = (...airtimes: object[]) => sandbox.post('/payouts/airtime', { airtimes });
  const answerOf = ({ status, body }: { status: number; body: unknown }) => ({ status, body });

  it('errorNone sends error "None" in a success, or no error', async () => {
    const { on, off } = await both('errorNone', async () => (await airtime(item()).expect(200)).body.data);
    expect([on.error, on.payouts[0]?.errorMessage]).toEqual(['None', 'None']);
    expect(Object.keys(off)).toEqual(['payoutLink', 'data', 'payouts']);
    expect(Object.keys(first(off.payouts))).toEqual(['phoneNumber', 'amount', 'status', 'requestId']);
  });

  it('errorWithinSuccess answers an unknown ID with a success, or with an error', async () => {
    const ask = async () => answerOf(await sandbox.get('/account/transaction?id=none'));
    const { on, off } = await both('errorWithinSuccess', ask);
    expect(on).toEqual({
      status: 200,
      body: { status: 'success', data: { error: 'not found for that id' } },
    });
    expect(off).toEqual({ status: 400, body: { status: 'error', error: 'not found for that id' } });
  });

  it('errorWith200 rejects with 200 or 400, except for the 500 of /send', async () => {
    const { on, off } = await both('errorWith200', async () => answerOf(await airtime({})));
    expect(on).toEqual({
      status: 200,
      body: { status: 'error', error: 'airtimes[0].countryToSend is required' },
    });
    expect(off).toEqual({ status: 400, body: on.body });
    const sent = await both('errorWith200', async () => (await sandbox.post('/send', { credit: [] })).status);
    expect(sent).toEqual({ on: 500, off: 500 });
  });

  it('errorWith200 without errorWithinSuccess answers an unknown ID with 200 and an error', async () => {
    const ask = async () => answerOf(await sandbox.get('/account/transaction?id=none'));
    sandbox.behaviour.quirks.errorWithinSuccess = false;
    const { on } = await both('errorWith200', ask);
    sandbox.behaviour.quirks.errorWithinSuccess = true;
    expect(on).toEqual({ status: 200, body: { status: 'error', error: 'not found for that id' } });
  });

  it('amountsAsStrings sends valueInUSD as text, or as a number', async () => {
    const { on, off } = await both('amountsAsStrings', async () =>
      first((await airtime(item()).expect(200)).body.data.data),
    );
    expect([on.valueInUSD, off.valueInUSD]).toEqual(['0.5', 0.5]);
    expect(on.credit).toBe(500);
  });

  it('floatBalances sends balances with the error of binary fractions, or without', async () => {
    const ask = async () => (await sandbox.get('/wallets/list').expect(200)).body.data[2]!;
    const { on, off } = await both('floatBalances', ask);
    expect(off.balance).toBe(await sandbox.balance('airtime'));
    expect(on.balance).not.toBe(off.balance);
    expect(on.balance).toBeCloseTo(off.balance, 9);
    expect(on.transactions[0]?.newBalance).not.toBe(off.transactions[0]?.newBalance);
  });

  it('payoutsAsMap sends payouts as a map with the issueID, or as an array', async () => {
    const ask = async () => (await airtime(item(), item('+254712345679')).expect(200)).body.data;
    const { on, off } = await both('payoutsAsMap', ask);
    expect(Object.keys(on.payouts)).toEqual(['0', '1', 'issueID']);
    expect(on.payouts).toMatchObject({ 1: { phoneNumber: '+254712345679' }, issueID: on.data[0]?.issueID });
    expect(off.payouts).toHaveLength(2);
    const momo = { ...item(), reference: '', momoCode: 'MPS' };
    const mobile = await both('payoutsAsMap', async () => {
      const { body } = await sandbox.post('/payouts/mobile-money', { momos: [momo] }).expect(200);
      return body.data;
    });
    expect(mobile.on.payouts).toMatchObject({ issueID: mobile.on.credits[0]?.issueID });
  });

  it('badPhoneFailsBatch fails the whole airtime batch or only the item', async () => {
    const before = await sandbox.balance('airtime');
    const { on, off } = await both('badPhoneFailsBatch', async () =>
      answerOf(await airtime(item('0712'), item())),
    );
    expect(on).toEqual({
      status: 400,
      body: { status: 'error', error: expect.stringMatching(/^airtimes\[0\]\.phoneNumber must be/) },
    });
    const failed = {
      status: 'Failed',
      phoneNumber: '0712',
      errorMessage: expect.not.stringMatching(/^None$/),
    };
    const data = { data: [{ status: 'failed' }, { status: 'paid' }], payouts: [failed, { status: 'Sent' }] };
    expect(off).toMatchObject({ status: 200, body: { data } });
    expect(await sandbox.balance('airtime')).toBe(before - 0.5);
  });

  it('newStatusWords sends newer or old words in transactions, and keeps payouts', async () => {
    const ask = async () =>
      (await airtime(item(), item('+254799990102'), item('+254799990104')).expect(200)).body.data;
    const { on, off } = await both('newStatusWords', ask);
    expect(on.data.map(({ status }) => status)).toEqual(['SUCCESSFUL', 'PENDING', 'FAILED']);
    expect(off.data.map(({ status }) => status)).toEqual(['paid', 'pending', 'failed']);
    expect(on.payouts[0]?.status).toBe('Sent');
  });

  it("never changes the caller's own data", async () => {
    const meta = { valueInUSD: 1, balance: 2, status: 'paid', chiRef: 'x', payouts: [1] };
    Object.assign(sandbox.behaviour.quirks, {
      amountsAsStrings: true,
      floatBalances: true,
      newStatusWords: true,
    });
    const { body } = await sandbox.post('/sub-account/create', { name: 'A', email: 'a@example.org', meta });
    Object.assign(sandbox.behaviour.quirks, {
      amountsAsStrings: false,
      floatBalances: false,
      newStatusWords: false,
    });
    expect(body.data?.meta).toEqual(meta);
  });
});
