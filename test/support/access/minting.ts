import type { BodyOf } from '../http/supertest';
import supertest, { TypedApiRequest } from '../http/supertest';
import { TestProxy } from '../processes/proxy';

/** Fields of a new ephemeral key for airtime, valid for ten minutes. */
export const GRANT = {
  actor: 'ada',
  operations: ['POST /payouts/airtime'],
  max_item: '5',
  max_total: '20',
  expires_in: 600,
};

export type IssuedEphemeralKey = BodyOf<'post', '/v1/ephemeral-keys', 201>;

/** Requests an ephemeral key. */
export function askForKey(
  proxy: Pick<TestProxy, 'url'>,
  key: string,
  more: object = {},
): TypedApiRequest<'post', '/v1/ephemeral-keys'> {
  return supertest(proxy.url)
    .post('/v1/ephemeral-keys')
    .set('X-API-Key', key)
    .send({ ...GRANT, ...more });
}

/** Mints an ephemeral key. */
export async function mint(
  proxy: Pick<TestProxy, 'url'>,
  key: string,
  more: object = {},
): Promise<IssuedEphemeralKey> {
  return (await askForKey(proxy, key, more).expect(201)).body;
}
