import { createHash } from 'node:crypto';
import { AIRTIME_COUNTRIES } from '../../../src/sandbox/countries/countries';
import { ledgerOf } from '../../../src/sandbox/wallets/ledger';
import { first } from '../../support/examples/first';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { TestSandbox, startSandbox } from '../../support/sandbox/sandbox';

const EVIL = `<script>alert("1")</script>'&`;
const PHONE = '+254712345678';

describe("the sandbox's pages", () => {
  let sandbox: TestSandbox;

  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.close());
  afterEach(() => expectSoundLedger(sandbox.database));

  const initiate = async (description?: string) => {
    const credits = [
      { valueInUSD: 1.5, email: 'ada@example.org' },
      { valueInUSD: 2, twitter: '@grace' },
    ];
    const { body } = await sandbox.post('/payouts/initiate-credit', { credits, description }).expect(200);
    return { link: body.data.paymentLink, issueID: first(body.data.data).issueID };
  };
  const outside = async () => {
    const { accounts } = await ledgerOf(sandbox.database);
    return Number(accounts.find(({ type }) => type === 'outside')?.balance);
  };

  describe('payment', () => {
    it('shows the amount, and no recipient', async () => {
      const { link } = await initiate('For the workshop');
      const { text, headers } = await sandbox.page(link).expect(200);
      expect(text).toContain('For the workshop');
      expect(text).toContain('Pay 3.50 USD');
      expect(text).toContain('This is a sandbox: no money exists here.');
      expect(text).not.toMatch(/ada|grace/);
      const policy = headers['content-security-policy'];
      expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; form-action 'self'; /);
      const style = /<style>([^]*)<\/style>/.exec(text)?.[1] ?? '';
      // Otherwise the browser blocks it.
      expect(policy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`);
      expect(text).not.toMatch(/<script|style="|onclick/);
    });

    it('pays once for repeated presses of the button', async () => {
      const { link, issueID } = await initiate();
      const before = await outside();
      const presses = await Promise.all(Array.from({ length: 5 }, () => sandbox.submit('/pay', { issueID })));
      expect(presses.map(({ status }) => status)).toEqual(Array(5).fill(303));
      expect(presses[0]?.headers.location).toBe(link.replace(sandbox.url, ''));
      expect(await outside()).toBe(before - 3.5);
      const { text } = await sandbox.page(link).expect(200);
      expect(text).toContain('Nothing is left to pay');
      expect(text).not.toContain('<form');
    });

    it('reports an expired link, and takes no money', async () => {
      const { link, issueID } = await initiate();
      const before = await outside();
      sandbox.behaviour.unpaidExpiresAfterMs = -60_000;
      await sandbox.submit('/pay', { issueID }).expect(303);
      const { text } = await sandbox.page(link).expect(200);
      sandbox.behaviour.unpaidExpiresAfterMs = 1e9;
      expect(text).toContain('This payment has expired');
      expect(text).not.toContain('<form');
      expect(await outside()).toBe(before);
    });

    it('escapes texts of callers', async () => {
      const { link } = await initiate(EVIL);
      const { text } = await sandbox.page(link).expect(200);
      expect(text).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;');
      expect(text).not.toContain('<script');
    });

    it('reports an unknown or missing link', async () => {
      const unknown = await sandbox.page(`/pay?issueID=${encodeURIComponent(EVIL)}`).expect(404);
      expect(unknown.text).toContain('There is no payment behind this link.');
      for (const wrong of ['/pay', '/pay?issueID=', '/pay?issueID=a&issueID=b', '/pay?issueID=%00'])
        expect((await sandbox.page(wrong).expect(400)).type).toBe('text/html');
      expect((await sandbox.submit('/pay', {}).expect(400)).text).toContain('issueID is required');
    });
  });

  describe('redemption', () => {
    const pay = async () => {
      const credits = [{ valueInUSD: 2, email: 'ada@example.org' }];
      const { body } = await sandbox.post('/payouts/credit', { credits }).expect(200);
      const { id, chiRef, redeemLink = '' } = first(body.data.data);
      return { id, chiRef, link: redeemLink };
    };
    const read = async (id: string) =>
      (await sandbox.get(`/account/transaction?id=${id}`).expect(200)).body.data;

    it('offers every choice, with a label for each field', async () => {
      const { text } = await sandbox.page((await pay()).link).expect(200);
      for (const way of ['Airtime', 'Mobile money', 'Gift card', 'Crypto', 'Other assets'])
        expect(text).toContain(`<summary>${way}</summary>`);
      for (const country of AIRTIME_COUNTRIES) expect(text).toContain(`<option value="${country}">`);
      const fields = text.match(/<(select|input (?!type="hidden"))/g) ?? [];
      expect(text.match(/<label\b/g)).toHaveLength(fields.length);
      expect(text).not.toContain('ada@example.org');
    });

    it.each([
      [
        { type: 'airtime', country: 'Kenya', phoneNumber: PHONE },
        { countryToSend: 'Kenya', phoneNumber: PHONE },
      ],
      [
        { type: 'momo', network: "Côte d'Ivoire/MTN", phoneNumber: PHONE },
        { countryToSend: "Côte d'Ivoire", momoCode: 'MTN', phoneNumber: PHONE },
      ],
      [{ type: 'gift-card', code: 'gift-books' }, { code: 'gift-books' }],
      [
        { type: 'crypto', code: 'btc', address: 'bc1q0000000000000000000' },
        { address: 'bc1q0000000000000000000' },
      ],
      [{ type: 'other', code: 'solar' }, { code: 'solar' }],
    ])('redeems %j, once', async (fields, kept) => {
      const { id, chiRef, link } = await pay();
      const answers = await Promise.all(
        [1, 2, 3].map(() => sandbox.submit('/redeem', { chiRef, ...fields })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400]);
      expect(await read(id)).toMatchObject({
        status: 'redeemed',
        redeemData: { type: fields.type, ...kept },
      });
      const { text } = await sandbox.page(link).expect(200);
      expect(text).toContain('This credit is redeemed');
      expect(text).not.toContain(PHONE);
      expect(text).not.toContain('<form');
    });

    it.each([
      [{}, 'Asset type is required'],
      [{ type: EVIL }, 'Asset type must be one of the list'],
      [{ type: 'airtime', country: 'Atlantis', phoneNumber: PHONE }, 'Country must be one of the list'],
      [{ type: 'airtime', country: 'Kenya', phoneNumber: EVIL }, 'Phone number must be a phone number'],
      [
        { type: 'momo', network: 'Nigeria/MPS', phoneNumber: PHONE },
        'Country and network must be one of the list',
      ],
      [{ type: 'gift-card', code: 'gift-games' }, 'Choice must be one of the list'], // unavailable
      [{ type: 'crypto', code: 'btc', address: '<b>' }, 'Address must be 20 to 100 letters and digits'],
      [{ type: 'other', code: 'btc' }, 'Choice must be one of the list'],
    ])('explains the faults of %j, and changes nothing', async (fields, words) => {
      const { id, chiRef } = await pay();
      const { text } = await sandbox.submit('/redeem', { chiRef, ...fields }).expect(400);
      expect(text).toContain(`role="alert">${words}`);
      expect(text).not.toContain('<script');
      expect(await read(id)).toMatchObject({ status: 'paid' });
    });

    it('waits for the payment, and rejects other links', async () => {
      const { issueID } = await initiate();
      const { chiRef } = await sandbox.database.transaction.findFirstOrThrow({ where: { issueID } });
      expect((await sandbox.page(`/redeem?chiRef=${chiRef}`).expect(200)).text).toContain('Not paid yet');
      await sandbox.submit('/redeem', { chiRef, type: 'other', code: 'solar' }).expect(400);
      await sandbox.page('/redeem?chiRef=none').expect(404);
      await sandbox.submit('/redeem', { chiRef: 'none', type: 'other', code: 'solar' }).expect(404);
      await sandbox.page('/redeem').expect(400);
    });
  });
});
