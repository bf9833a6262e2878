import { Decimal } from 'decimal.js';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { startConsoleScene } from '../console/console-scene';
import supertest from '../http/supertest';
import { mint } from './minting';

export const ISSUER = 'https://id.example';
export const PAGE_ISSUER = 'https://pages.example';
const PERSONS = '/v1/clients/shop/persons';

/**
 * A shop that mints ephemeral keys, accepts tokens of one provider, and has pages with another. Each of its
 * people pays at most 10 a day. Ada and Bob administer with dual control. Grace may also see people.
 */
export async function startPersonsScene() {
  const scene = await startConsoleScene({ dualControl: true });
  const { proxy } = scene;
  const clients = proxy.app.get(ClientsService, { strict: false });
  const ada = (await clients.create('admin', ['admin', 'audit'], { person: 'ada' })).key;
  const bob = (await clients.issueKey('admin', { person: 'bob' })).key;
  const grace = (await clients.create('seer', ['admin', 'audit:pii'], { person: 'grace' })).key;
  const limits = { personDailyCapUsd: new Decimal(10), personRequestsPerMinute: 60 };
  const shop = (await clients.create('shop', ['pay', 'read'], limits)).key;
  const provider = { tokenAudience: 'api', tokenJwksUri: `${ISSUER}/jwks`, tokenClientId: 'app' };
  await clients.update('shop', { tokenIssuer: ISSUER, ...provider });
  await clients.update('shop', {
    pageIssuer: PAGE_ISSUER,
    pageClientId: 'pages',
    origins: ['https://shop.example'],
  });
  return {
    ...scene,
    keys: { ada, bob, grace, shop },
    /** @returns an ephemeral key of a person. */
    keyOf: async (actor: string) => (await mint(proxy, shop, { actor })).key,
    pay: (key: string, valueInUSD: number) =>
      proxy.post(key, '/payouts/airtime', {
        airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD }],
      }),
    limit: (body: object) => supertest(proxy.url).post(PERSONS).set('X-API-Key', ada).send(body),
    idOf: async (name: string) => {
      const { body } = await proxy.get(grace, `${PERSONS}?name=${name}` as typeof PERSONS).expect(200);
      return body.persons[0]?.id ?? '';
    },
  };
}

export type PersonsScene = Awaited<ReturnType<typeof startPersonsScene>>;
