import supertest from '../http/supertest';
import { FakeUpstream } from '../network/fake-upstream';
import { startProxy, TestProxy } from '../processes/proxy';
import { TokenIssuer } from './token-issuer';

export const AIRTIME = {
  airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1 }],
};

export interface TokenScene {
  upstream: FakeUpstream;
  issuer: TokenIssuer;
  proxy: TestProxy;
  /** Another instance on the same database. */
  second: TestProxy;
  close(): Promise<void>;
}

/** Two instances on one database, and a provider. */
export async function startTokenScene(): Promise<TokenScene> {
  const [upstream, issuer] = await Promise.all([FakeUpstream.start(), TokenIssuer.start()]);
  const settings = { upstreamBaseUrl: upstream.url, trustedProxies: ['127.0.0.1'] };
  const proxy = await startProxy(settings);
  const second = await startProxy(settings, proxy.database);
  const close = async () => {
    await second.close();
    await proxy.close();
    await Promise.all([upstream.stop(), issuer.stop()]);
  };
  return { upstream, issuer, proxy, second, close };
}

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

let address = 0;

/** Returns a new address for each request, because invalid tokens slow an address down. */
const fromAnywhere = () => ({ 'X-Forwarded-For': `198.51.${(address += 1) >> 8}.${address & 255}` });

export const payAirtime = ({ url }: TestProxy, headers: Record<string, string>) =>
  supertest(url)
    .post('/api/v0.1/payouts/airtime')
    .set({ ...fromAnywhere(), ...headers })
    .send(AIRTIME);

export const readLimits = ({ url }: TestProxy, headers: Record<string, string>) =>
  supertest(url)
    .get('/v1/limits')
    .set({ ...fromAnywhere(), ...headers });
