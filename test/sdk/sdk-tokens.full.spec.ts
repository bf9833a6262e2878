import { type ApiError, AuthenticationError, PayoutProxy } from '../../packages/sdk/src/index.ts';
import { createTokenClient } from '../support/access/token-client';
import { newSigningKey, proofOf, SigningKey, TokenIssuer } from '../support/access/token-issuer';
import { first } from '../support/examples/first';
import { startProxyWithSandbox } from '../support/processes/proxy';
import { askSandbox } from '../support/sandbox/sandbox-answers';

const EXPIRED = { exp: Math.floor(Date.now() / 1_000) - 600 };
const RETRIES = { most: 4, firstMs: 5, longestMs: 1_000 };
const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };

describe('the SDK with access tokens', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let issuer: TokenIssuer;
  let device: SigningKey;
  let count = 0;

  beforeAll(async () => {
    [proxy, issuer, device] = await Promise.all([
      startProxyWithSandbox({ checkCoverage: false, trustedProxies: ['127.0.0.1'] }),
      TokenIssuer.start(),
      newSigningKey(),
    ]);
    await createTokenClient(proxy.database, 'wallet', issuer);
  });
  afterAll(async () => {
    await proxy.close();
    await issuer.stop();
  });

  const body = () => {
    const phoneNumber = `+2547${String(40_000_000 + (count += 1))}`;
    return { airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD: '0.01' }] };
  };

  const phoneOf = ({ airtimes }: ReturnType<typeof body>) => first(airtimes).phoneNumber;

  it('renews an expired token, and makes each waiting payment once', async () => {
    let token = await issuer.token(EXPIRED);
    const codes: string[] = [];
    const refresh = async ({ code }: ApiError) => {
      codes.push(code);
      token = await issuer.token();
    };
    const client = new PayoutProxy({
      baseUrl: proxy.url,
      accessToken: () => token,
      refresh,
      retries: RETRIES,
    });
    const payments = Array.from({ length: 5 }, () => client.payouts.airtime(body()));
    const results = await Promise.all(payments.map((payment) => payment.settled()));
    expect(results.map(({ status }) => status)).toEqual(Array(5).fill('succeeded'));
    expect([codes, new Set(results.map(({ callId }) => callId)).size]).toEqual([['token_expired'], 5]);
  });

  it('uses the token that refresh returns', async () => {
    const accessToken = await issuer.token(EXPIRED);
    const client = new PayoutProxy({ baseUrl: proxy.url, accessToken, refresh: () => issuer.token() });
    expect((await client.limits()).daily).toMatchObject({ spent_usd: expect.any(String) });
  });

  it('gives up after a new token that has expired, and pays nothing', async () => {
    let renewals = 0;
    const refresh = async () => {
      renewals += 1;
      return issuer.token(EXPIRED);
    };
    const client = new PayoutProxy({ baseUrl: proxy.url, accessToken: await issuer.token(EXPIRED), refresh });
    const result = await client.payouts.airtime(body()).send();
    expect(result).toMatchObject({ status: 'rejected', settled: true, error: { code: 'token_expired' } });
    expect('error' in result && result.error).toBeInstanceOf(AuthenticationError);
    expect(renewals).toBe(1);
  });

  it('reports a failed refresh', async () => {
    const refresh = () => Promise.reject(new Error('signed out'));
    const client = new PayoutProxy({ baseUrl: proxy.url, accessToken: await issuer.token(EXPIRED), refresh });
    await expect(client.payouts.airtime(body()).settled()).rejects.toThrow('signed out');
  });

  it('never pays for another person after an attempt that may have arrived', async () => {
    const [alices, bobs] = [await issuer.token(), await issuer.token({ sub: 'bob' })];
    const given = body();
    let present = alices;
    let isLost = false;
    const client = new PayoutProxy({
      baseUrl: proxy.url,
      accessToken: () => present,
      retries: RETRIES,
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (init?.method !== 'POST' || isLost) return response;
        [isLost, present] = [true, bobs]; // the answer is lost, and another person signs in
        throw new TypeError('terminated');
      },
    });
    const payment = client.payouts.airtime(given);
    await expect(payment.send()).rejects.toThrow('the payment of another person');
    const { body: requests } = await askSandbox(proxy.sandbox.url)
      .get('/_sandbox/requests')
      .set(CONTROL)
      .expect(200);
    expect(requests.filter((one) => JSON.stringify(one.body).includes(phoneOf(given)))).toHaveLength(1);
    present = alices;
    expect(await payment.settled()).toMatchObject({ status: 'succeeded', settled: true });
  });

  it('creates a proof for each attempt and each lookup', async () => {
    const token = await issuer.boundToken(device);
    let attempts = 0;
    const client = new PayoutProxy({
      baseUrl: proxy.url,
      authorize: async ({ method, url }) => ({
        Authorization: `DPoP ${token}`,
        DPoP: await proofOf(device, { token, method, url }),
      }),
      retries: RETRIES,
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        attempts += 1;
        if (attempts === 1) throw new TypeError('terminated'); // the answer is lost
        return response;
      },
    });
    const payment = client.payouts.airtime(body());
    expect(await payment.settled()).toMatchObject({ status: 'succeeded', settled: true });
    const listed: string[] = [];
    for await (const { id } of client.calls.list({ idempotencyKey: payment.idempotencyKey })) listed.push(id);
    const { callId } = await payment.send();
    expect(listed).toContain(callId);
  });
});
