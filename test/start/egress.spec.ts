import { hash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { parseToken } from '../../src/access/tokens/access-token';
import { TokensService } from '../../src/access/tokens/tokens.service';
import { Secret } from '../../src/platform/config/secrets/secret';
import { atProvider } from '../support/access/signing-in';
import { TokenIssuer } from '../support/access/token-issuer';
import supertest from '../support/http/supertest';
import { ConnectProxy, refuse } from '../support/network/connect-proxy';
import { answer, FakeUpstream, succeed } from '../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../support/payments/paying';

const PASSWORD = 'a%20password%40proxy';
const PLAIN_PASSWORD = 'a password@proxy';

/** Every host has a fictitious name under `test.`, reachable only through the egress proxy. */
describe('a proxy behind an egress proxy', () => {
  let world: FakeUpstream;
  let egress: ConnectProxy;
  let paying: PaymentScene;
  let logged: jest.SpyInstance[];

  beforeAll(async () => {
    world = await FakeUpstream.start();
    egress = await ConnectProxy.start(world.url);
    paying = await startPaying({
      upstreamBaseUrl: 'http://upstream.test:8080',
      upstreamConnectTimeoutMs: 500,
      httpProxy: new Secret(egress.url(`us%40er:${PASSWORD}`)),
      screeningUrl: 'http://screening.test/check',
      screeningSecret: new Secret('a-screening-secret-of-many-bytes'),
      ...atProvider('http://id.test'),
    });
  });
  afterAll(async () => {
    await paying.close();
    await egress.stop();
    await world.stop();
  });
  beforeEach(() => {
    logged = (['log', 'warn', 'error'] as const).map((level) => jest.spyOn(Logger.prototype, level));
    world.received.length = 0;
    egress.requests.length = 0;
    egress.behaviour = egress.open;
    egress.breakAll();
    world.behaviour = (request, ...rest) =>
      (request.url === '/check' ? answer(200, { verdict: 'allow' }) : succeed)(request, ...rest);
  });
  afterEach(() => {
    const lines = JSON.stringify(logged.flatMap((spy) => spy.mock.calls as unknown[][]));
    for (const secret of [PASSWORD, PLAIN_PASSWORD, credentials]) expect(lines).not.toContain(secret);
  });

  const credentials = Buffer.from(`us@er:${PLAIN_PASSWORD}`).toString('base64');
  const authorities = () => egress.requests.map(({ authority }) => authority).sort();
  const paid = () => world.received.filter(({ url }) => url.includes('/payouts/'));

  /** Connects only to the screening service. */
  const exceptPayouts = (behaviour: ConnectProxy['behaviour']) => {
    egress.behaviour = (request, ...rest) =>
      (request.url?.startsWith('upstream.test') ? behaviour : egress.open)(request, ...rest);
  };

  it('screens and pays through tunnels, and sends the egress proxy only target and credentials', async () => {
    await paying.pay().expect(200);
    expect(authorities()).toEqual(['screening.test:80', 'upstream.test:8080']);
    expect(world.received.map(({ headers, url }) => [headers.host, url])).toEqual([
      ['screening.test', '/check'],
      ['upstream.test:8080', '/api/v0.1/payouts/airtime'],
    ]);
    expect(world.received.filter(({ headers }) => headers['proxy-authorization'])).toEqual([]);
    const [{ headers } = { headers: {} }] = egress.requests;
    expect(headers).toMatchObject({
      'proxy-authorization': `Basic ${credentials}`,
      host: 'screening.test:80',
    });
    expect(JSON.stringify(egress.requests)).not.toMatch(/upstream-key|x-api-key/i);
  });

  it.each([403, 407, 502])(
    'sends nothing if a tunnel is refused with %d, and logs the status',
    async (status) => {
      exceptPayouts(refuse(status));
      const refused = await paying.pay().expect(503);
      expect(refused.body).toMatchObject({ code: 'upstream_unreachable' });
      expect(await paying.record(refused)).toMatchObject({
        outcome: 'not_sent',
        upstream: { failure: 'not_connected' },
      });
      expect(paid()).toEqual([]);
      expect(logged[1]).toHaveBeenCalledWith(
        { host: 'upstream.test', status },
        'egress proxy refused a tunnel',
      );
    },
  );

  it('requests one tunnel of a proxy that hangs up', async () => {
    exceptPayouts((_request, socket) => socket.destroy());
    const refused = await paying.pay().expect(503);
    expect(refused.body).toMatchObject({ code: 'upstream_unreachable' });
    expect(await paying.record(refused)).toMatchObject({
      outcome: 'not_sent',
      upstream: { failure: 'not_connected' },
    });
    expect(authorities()).toEqual(['screening.test:80', 'upstream.test:8080']);
  });

  it('waits for a tunnel as long as for a connection', async () => {
    exceptPayouts(() => undefined);
    const refused = await paying.pay().expect(503);
    expect(await paying.record(refused)).toMatchObject({
      outcome: 'not_sent',
      upstream: { failure: 'connect_timeout' },
    });
    expect(paid()).toEqual([]);
  });

  it('leaves the outcome unknown if a tunnel breaks after the request', async () => {
    const { behaviour } = world;
    world.behaviour = (request, ...rest) =>
      request.url === '/check' ? behaviour(request, ...rest) : egress.breakAll();
    const unknown = await paying.pay().expect(502);
    expect(unknown.body).toMatchObject({ code: 'outcome_unknown' });
    expect(await paying.record(unknown)).toMatchObject({
      outcome: 'unknown',
      upstream: { failure: 'reset' },
    });
    expect(paid()).toHaveLength(1);
  });

  it('reads the keys of access tokens through it', async () => {
    const issuer = await TokenIssuer.start();
    const { issuer: name, audience, clientId, key } = issuer;
    world.behaviour = answer(200, { keys: [{ ...key.publicJwk, kid: key.kid, alg: key.alg }] });
    const token = await issuer.token();
    const source = {
      issuer: name,
      audience,
      clientId,
      algorithms: ['ES256'],
      jwksUri: 'http://keys.test/jwks',
    } as const;
    const tokens = paying.proxy.app.get(TokensService, { strict: false });
    const claims = await tokens.verify(
      { token, sha256: hash('sha256', token), ...parseToken(token) },
      source,
      5_000,
    );
    expect(claims).toMatchObject({ subject: 'alice' });
    expect(authorities()).toEqual(['keys.test:80']);
    await issuer.stop();
  });

  it('discovers the sign-in provider through it', async () => {
    world.behaviour = answer(200, {
      issuer: 'http://id.test',
      authorization_endpoint: 'http://id.test/authorize',
    });
    const begun = await supertest(paying.proxy.url).get('/session/sign-in');
    expect(begun.headers.location).toMatch(/^http:\/\/id\.test\/authorize\?/);
    expect(authorities()).toEqual(['id.test:80']);
  });
});
