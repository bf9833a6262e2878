import { Logger } from '@nestjs/common';
import { ClientsService } from '../../src/access/clients/clients.service';
import supertest from '../support/http/supertest';
import { succeed } from '../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../support/payments/paying';

/** Level error is for events that need an operator. */
describe('the log', () => {
  let paying: PaymentScene;
  let admin: string;
  beforeAll(async () => {
    paying = await startPaying();
    paying.upstream.behaviour = succeed;
    admin = (await paying.proxy.client('admin', 'admin')).key;
  });
  afterAll(() => paying.close());
  afterEach(() => jest.restoreAllMocks());

  const lines = () => {
    const written: unknown[] = [];
    for (const level of ['warn', 'error'] as const) {
      jest
        .spyOn(Logger.prototype, level)
        .mockImplementation((...words: unknown[]) => void written.push([level, words[0]]));
    }
    return written;
  };

  it('reports only the call that a stop rejected, as a warning', async () => {
    const stop = supertest(paying.proxy.url).post('/v1/stops').set('X-API-Key', admin);
    await stop.send({ everything: true, reason: 'wrong rates' }).expect(201);
    const written = lines();
    const { headers } = await paying.pay().expect(503, /"stopped"/);
    expect(written).toEqual([['warn', { call_id: headers['x-call-id'], code: 'stopped' }]]);
  });

  it('reports the origin of an internal error, as an error', async () => {
    const cause = new TypeError('x is undefined');
    jest.spyOn(paying.proxy.app.get(ClientsService, { strict: false }), 'list').mockRejectedValue(cause);
    const written = lines();
    const list = await supertest(paying.proxy.url).get('/v1/clients').set('X-API-Key', admin).expect(500);
    expect(written).toEqual([['error', { call_id: list.body.call_id, code: 'internal_error', err: cause }]]);
  });
});
