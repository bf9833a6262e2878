import { AuthenticationError, PayoutProxy } from '../../packages/sdk/src/index.ts';
import { startProvider, TestProvider } from '../support/access/provider';
import { Cookies } from '../support/access/provider/flow';
import { createPageClient, PAGE, signInToPage } from '../support/console/page-scene';
import { arrivalsOf } from '../support/console/pay-page';
import { startProxyWithSandbox } from '../support/processes/proxy';

const RETRIES = { most: 2, firstMs: 5, longestMs: 1_000 };

/** A browser without scripts: keeps cookies, and loses answers on request. */
class Browser {
  cookies = new Cookies();
  /** Statuses of answers, in order. */
  statuses: number[] = [];
  losesAnswers = false;

  constructor(private readonly url: string) {}

  async signIn(sub: string): Promise<void> {
    const session = this.cookies.values.get('payout_proxy_page_wallet') ?? '';
    this.cookies = new Cookies(); // the provider has forgotten the visitor
    if (session !== '') this.cookies.values.set('payout_proxy_page_wallet', session);
    await signInToPage(this.url, sub, { cookies: this.cookies });
  }

  client(): PayoutProxy {
    const send: typeof fetch = async (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('Cookie', this.cookies.header);
      const answer = await fetch(input, { ...init, headers });
      this.cookies.keep(answer);
      this.statuses.push(answer.status);
      if (this.losesAnswers && init?.method === 'POST') throw new TypeError('terminated');
      return answer;
    };
    return new PayoutProxy({
      baseUrl: this.url,
      session: { client: 'wallet' },
      retries: RETRIES,
      fetch: send,
    });
  }
}

describe('the SDK with a session', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let provider: TestProvider;
  let browser: Browser;
  let count = 0;

  beforeAll(async () => {
    [proxy, provider] = await Promise.all([startProxyWithSandbox({ checkCoverage: false }), startProvider()]);
    await createPageClient(proxy, provider, 'wallet', { scopes: ['pay', 'read'] });
  });
  beforeEach(async () => {
    browser = new Browser(proxy.url);
    await browser.signIn('alice');
  });
  afterAll(async () => {
    await proxy.close();
    await provider.stop();
  });

  const newPhone = () => `+2547${String(50_000_000 + (count += 1))}`;
  const bodyTo = (phoneNumber: string) => ({
    airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD: '0.01' }],
  });
  const arrivals = (phone: string) => arrivalsOf(phone, proxy.sandbox.url);
  const endSessions = () =>
    proxy.database.query("UPDATE page_session SET used_at = now() - interval '1 day'");

  it('makes each payment once after a sign-in in another tab', async () => {
    const client = browser.client();
    expect(await client.session.read()).toMatchObject({ client: 'wallet', scopes: ['pay', 'read'] });
    await browser.signIn('alice');
    const phones = Array.from({ length: 5 }, newPhone);
    const payments = phones.map((phone) => client.payouts.airtime(bodyTo(phone)));
    const results = await Promise.all(payments.map((payment) => payment.settled()));
    expect(results.map(({ status }) => status)).toEqual(Array(5).fill('succeeded'));
    expect(browser.statuses.filter((status) => status === 403).length).toBeGreaterThan(0);
    expect(await Promise.all(phones.map(arrivals))).toEqual(Array(5).fill(1));
    expect(await proxy.database.query("SELECT FROM refusal WHERE code = 'csrf'")).toEqual([]);
  });

  it('continues a payment after a lost answer and the end of its session, and pays once', async () => {
    const client = browser.client();
    const phone = newPhone();
    const payment = client.payouts.airtime(bodyTo(phone));
    browser.losesAnswers = true;
    expect(await payment.send()).toMatchObject({ status: 'unknown', callId: undefined });
    browser.losesAnswers = false;
    await endSessions();
    expect(await payment.send()).toMatchObject({ status: 'unknown', error: { code: 'session_ended' } });
    await expect(payment.settled()).rejects.toThrow(AuthenticationError);
    await browser.signIn('bob');
    await expect(payment.settled()).rejects.toThrow('Another person has signed in');
    await browser.signIn('alice');
    const { idempotencyKey } = payment;
    expect(await payment.settled()).toMatchObject({ status: 'succeeded', settled: true, idempotencyKey });
    expect(await arrivals(phone)).toBe(1);
  });

  it('continues a payment with its stored key after the sign-in', async () => {
    const client = browser.client();
    await client.session.read();
    await endSessions();
    const phone = newPhone();
    const refused = await client.payouts.airtime(bodyTo(phone)).send();
    expect(refused).toMatchObject({ status: 'rejected', error: { code: 'session_ended' } });
    await browser.signIn('alice');
    const { idempotencyKey } = refused;
    const continued = browser.client().payouts.airtime(bodyTo(phone), { idempotencyKey });
    expect(await continued.settled()).toMatchObject({ status: 'succeeded', idempotencyKey });
    expect(await arrivals(phone)).toBe(1);
  });

  it('reports a signed-out session after a sign-out in any tab', async () => {
    const [client, tab] = [browser.client(), browser.client()];
    await client.limits();
    expect(await tab.session.signOut({ returnTo: PAGE })).toBe(`${proxy.url}/session/sign-out`);
    expect(browser.cookies.values.has('payout_proxy_page_wallet')).toBe(false);
    await expect(client.limits()).rejects.toMatchObject({
      code: 'session_ended',
      name: 'AuthenticationError',
    });
    expect([await client.session.read(), await client.session.signOut()]).toEqual([undefined, null]);
  });

  it('reports an invalid return address to the page', async () => {
    const { session } = browser.client();
    await expect(session.signOut({ returnTo: 'https://other.example' })).rejects.toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '/return_to' }],
    });
    expect(await session.read()).toBeDefined();
  });
});
