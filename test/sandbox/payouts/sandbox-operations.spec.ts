import { first } from '../../support/examples/first';
import type { Answer } from '../../support/http/request';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { DEMO, SUB_ACCOUNT, TestSandbox, startSandbox } from '../../support/sandbox/sandbox';

const NOT_FOUND = { status: 'success', data: { error: 'not found for that id' } };

describe('the operations documented by name only', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.close());
  afterEach(() => expectSoundLedger(sandbox.database));

  const get = async <const Path extends string>(path: Path) => (await sandbox.get(path).expect(200)).body;
  const refused = async (request: PromiseLike<Answer<{ error?: string | undefined }>>) => {
    const { status, body } = await request;
    expect(status).toBe(400);
    return body.error;
  };

  describe('info', () => {
    it('lists the assets, the airtime countries and the mobile money codes', async () => {
      expect((await get('/info/assets')).data.benefitsList[0]).toEqual({
        name: expect.any(String),
        img: expect.any(String),
        description: expect.any(String),
        code: 'airtime',
        type: 'airtime',
        available: true,
      });
      expect((await get('/info/airtime-countries')).data).toEqual([
        'Nigeria',
        'Ghana',
        'Kenya',
        'South Africa',
        'Uganda',
      ]);
      const codes = (await get('/info/mobile-money-codes')).data;
      expect(codes.filter(({ code }) => code === 'MPS').map(({ country }) => country)).toEqual([
        'Kenya',
        'Tanzania',
      ]);
      const rows = codes.map((row) => JSON.stringify(row));
      expect(new Set(rows).size).toBeLessThan(rows.length); // observed: rows repeat
    });

    it('converts at the rates of payouts, and echoes the amount unchanged', async () => {
      expect((await get('/info/usd-amount-in-local?destinationCurrency=KES&amountInUSD=15')).data).toEqual({
        amountInUSD: '15',
        destinationCurrency: 'KES',
        amountInDestinationCurrency: 1942.5126,
        validUntil: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      });
      expect(
        (await get('/info/local-amount-in-usd?originCurrency=NGN&amountInOriginCurrency=20.50')).data,
      ).toMatchObject({
        amountInOriginCurrency: '20.50',
        originCurrency: 'NGN',
        amountInUSD: 0.013322, // rounded down
      });
    });

    it('rejects amounts and currencies that it cannot convert', async () => {
      for (const amount of ['', '0', '-1', '1e3', 'NaN', '0x10', '1000000001'])
        expect(
          await refused(
            sandbox.get(`/info/usd-amount-in-local?destinationCurrency=KES&amountInUSD=${amount}`),
          ),
        ).toMatch(/^amountInUSD must be/);
      expect(
        await refused(sandbox.get('/info/local-amount-in-usd?originCurrency=XXX&amountInOriginCurrency=1')),
      ).toMatch(/^originCurrency must be one of XAF, /);
    });
  });

  describe('sub-accounts and wallets', () => {
    it('creates a sub-account with empty wallets, reads it and lists it', async () => {
      const fields = {
        name: 'Field office East',
        email: 'east@example.org',
        firstName: 'E',
        meta: { region: 7 },
      };
      const created = (await sandbox.post('/sub-account/create', fields).expect(200)).body.data;
      expect(created).toEqual({
        id: created.uid,
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        parent: DEMO,
        name: 'Field office East',
        subAccount: true,
        approved: true,
        verified: true,
        createdDate: expect.stringMatching(/Z$/),
        meta: { region: 7 },
      });
      const read = (await get(`/sub-account/get?id=${created.id}`)).data;
      expect(read).toMatchObject(created);
      expect(read.wallets.map(({ type, balance }) => [type, balance])).toEqual([
        ['chi', 0],
        ['momo', 0],
        ['airtime', 0],
      ]);
      const listed = (await get('/sub-account/list')).data;
      expect(listed.map(({ name }) => name).sort()).toEqual([
        'Field office East',
        'Field office North',
        'Field office South',
      ]);
      expect((await sandbox.get('/sub-account/get?id=nobody').expect(200)).body).toEqual(NOT_FOUND);
      expect((await sandbox.get(`/sub-account/get?id=${DEMO}`).expect(200)).body).toEqual(NOT_FOUND);
    });

    it('rejects a sub-account without a name or address, or with unstorable values', async () => {
      const create = (fields: object) => refused(sandbox.post('/sub-account/create', fields));
      expect(await create({ email: 'a@example.org' })).toBe('name is required');
      expect(await create({ name: 'A' })).toBe('email is required');
      expect(await create({ name: 'A', email: 'a' })).toBe('email must be an e-mail address');
      expect(await create({ name: '\ud800', email: 'a@b' })).toMatch(/^name must not contain/);
      expect(await create({ name: 'A', email: 'a@b', meta: { a: '\0' } })).toMatch(/^meta must not contain/);
      expect(await create({ name: 'A', email: 'a@b', meta: [1] })).toBe('meta must be an object');
    });

    it('looks up its wallets and those of its sub-accounts, and transfers between them', async () => {
      const [, momo] = (await get('/wallets/list')).data;
      const [, theirs] = (await get(`/sub-account/get?id=${SUB_ACCOUNT}`)).data.wallets;
      const transfer = { receiver: SUB_ACCOUNT, valueInUSD: 0.1, wallet: 'momo' };
      const { body } = await sandbox.post('/wallets/transfer', transfer).expect(200);
      expect(body.data).toEqual({
        data: {
          sender: DEMO,
          wallet: 'momo',
          valueInUSD: 0.1,
          tnxID: expect.any(String),
          receiver: SUB_ACCOUNT,
        },
        error: 'None',
      });
      const lookup = async (walletID: string) =>
        (await sandbox.post('/wallets/lookup', { walletID }).expect(200)).body.data;
      expect(await lookup(momo!.id)).toMatchObject({
        id: momo?.id,
        type: 'momo',
        balance: 9999.9,
        owner: DEMO,
      });
      expect(await lookup(theirs!.id)).toMatchObject({ balance: 0.1, owner: SUB_ACCOUNT });
      expect((await lookup(theirs!.id)).transactions[0]).toMatchObject({
        amount: 0.1,
        balanceBefore: 0,
        newBalance: 0.1,
      });
      expect(await lookup('nobody')).toEqual(NOT_FOUND.data);
    });

    it('rejects transfers to itself, to an unknown receiver, and above the balance', async () => {
      const transfer = (receiver: string, valueInUSD: unknown) =>
        refused(sandbox.post('/wallets/transfer', { receiver, valueInUSD }));
      expect(await transfer(DEMO, 1)).toMatch(/^receiver must be another account/);
      expect(await transfer('nobody', 1)).toBe('Account with id nobody not found');
      expect(await transfer(SUB_ACCOUNT, 1e6)).toBe('insufficient funds in the chi wallet');
      expect(await transfer(SUB_ACCOUNT, '1')).toBe('valueInUSD must be a positive number');
    });
  });

  describe('redeem', () => {
    const pay = async (type: 'credit' | 'initiate-credit') => {
      const credits = [{ valueInUSD: 2, email: 'ada@example.org' }];
      const { body } = await sandbox.post(`/payouts/${type}`, { credits }).expect(200);
      return first(body.data.data);
    };
    const redeem = (chiRef: string, more = {}) =>
      sandbox.post('/redeem/airtime', {
        chiRef,
        phoneNumber: '+254712345678',
        countryToSend: 'kenya',
        ...more,
      });

    it('turns a paid credit into airtime exactly once', async () => {
      const { chiRef } = await pay('credit');
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => redeem(chiRef, { meta: { a: [1] } })),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, 400, 400, 400, 400]);
      expect(answers.find(({ status }) => status === 200)?.body).toMatchObject({
        data: {
          status: 'redeemed',
          redeemData: {
            type: 'airtime',
            phoneNumber: '+254712345678',
            countryToSend: 'kenya',
            meta: { a: [1] },
          },
        },
      });
      expect(await refused(redeem(chiRef))).toBe('ERROR-REDEEMED');
    });

    it('rejects a transaction that is unknown, unpaid, or not a credit', async () => {
      const unpaid = await pay('initiate-credit');
      expect(await refused(redeem(unpaid.chiRef))).toMatch(/is unpaid, only a paid one can be redeemed$/);
      expect(await refused(redeem('nobody'))).toBe('no transaction found for chiRef nobody');
      const airtime = { countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1 };
      const { body } = await sandbox.post('/payouts/airtime', { airtimes: [airtime] }).expect(200);
      expect(await refused(redeem(first(body.data.data).chiRef))).toMatch(
        /^a transaction of type airtime cannot/,
      );
      const { chiRef } = await pay('credit');
      expect(await refused(redeem(chiRef, { countryToSend: 'Atlantis' }))).toMatch(/^countryToSend must be/);
      expect(await refused(redeem(chiRef, { phoneNumber: '0712' }))).toMatch(/^phoneNumber must be/);
    });
  });
});
