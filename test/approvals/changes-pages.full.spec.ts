import { ClientsService } from '../../src/access/clients/clients.service';
import { SCOPES } from '../../src/operations/catalogue/scopes';
import type { ChangeRecord } from '../support/http/api';
import { API_DOCUMENT } from '../support/http/api-document';
import supertest from '../support/http/supertest';
import { startProxy, TestProxy } from '../support/processes/proxy';

const MUST = 'must be the next_page_token of an earlier response';

describe('the list of changes under dual control', () => {
  let proxy: TestProxy;
  let ada: string;
  let bob: string;

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1', dualControl: true });
    const clients = proxy.app.get(ClientsService, { strict: false });
    await clients.create('first-admin', ['admin']);
    await clients.create('second-admin', ['admin']);
    ada = (await clients.issueKey('first-admin', { person: 'ada' })).key;
    bob = (await clients.issueKey('second-admin', { person: 'bob' })).key;
  });
  afterAll(() => proxy.close());

  const request = async (name: string) => {
    const body = { name, scopes: ['pay'], daily_cap_usd: 1 };
    const answer = await supertest(proxy.url)
      .post('/v1/clients')
      .set('X-API-Key', ada)
      .send(body)
      .expect(202);
    return (answer.body as { change_id: string }).change_id;
  };
  const reject = (id: string) =>
    supertest(proxy.url)
      .post(`/v1/changes/${id}/reject`)
      .set('X-API-Key', bob)
      .send({ reason: 'no' })
      .expect(200);
  const read = async (query: string) =>
    (await proxy.get(ada, `/v1/changes?status=rejected${query}`).expect(200)).body;

  it('has pages, newest first, with the names of the participants', async () => {
    const ids = [await request('one'), await request('two'), await request('three')].reverse();
    for (const id of ids) await reject(id);
    const { changes: first, next_page_token: token } = await read('&page_size=2');
    const { changes: rest, next_page_token: end } = await read(`&page_size=2&page_token=${token}`);
    expect([first.map(({ id }) => id), rest.map(({ id }) => id), end]).toEqual([
      ids.slice(0, 2),
      ids.slice(2),
      null,
    ]);
    const expected: Partial<ChangeRecord>[] = ids.map(() => ({
      requested_by: expect.objectContaining({ client: 'first-admin' }) as never,
      decided_by: expect.objectContaining({ client: 'second-admin' }) as never,
    }));
    expect([...first, ...rest]).toMatchObject(expected);
    expect((await read('&page_size=3')).next_page_token).toBeNull();
  });

  it('refuses oversized pages, and page tokens that it has not issued', async () => {
    await proxy.get(ada, '/v1/changes?page_size=201').expect(400);
    await proxy.get(ada, '/v1/changes?page_token=x').expect(400);
  });
});

describe('every paged list', () => {
  it('rejects a foreign page token with the same error', async () => {
    const proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
    try {
      const clients = proxy.app.get(ClientsService, { strict: false });
      await clients.create('all', [...SCOPES]);
      const { key } = await clients.issueKey('all');
      const lists = Object.entries(API_DOCUMENT.paths).filter(([, { get }]) =>
        get?.parameters?.some(({ name }) => name === 'page_token'),
      );
      const bad = ['x', 'AAAAAAAAAAAAAAAAAAAAAA=', '01a1fb98-53b1-7069-a17f-af1e8cacb634'];
      for (const path of lists.map(([name]) => name.replace('{name}', 'all'))) {
        for (const token of bad) {
          const { status, body } = await supertest(proxy.url)
            .get(`${path}?page_token=${token}`)
            .set('X-API-Key', key);
          const { errors } = body as { errors?: object[] };
          expect([path, status, errors]).toEqual([path, 400, [expect.objectContaining({ detail: MUST })]]);
        }
      }
      expect(lists.length).toBeGreaterThan(12);
    } finally {
      await proxy.close();
    }
  });
});
