import { FollowUpService } from '../../src/reconciliation/following/follow-up.service';
import supertest from '../support/http/supertest';
import {
  APP,
  Answer,
  redemption,
  SharedAccount,
  startSharedAccount,
  Transaction,
} from '../support/payments/shared-account';

type Ids = Pick<Transaction, 'id' | 'chiRef' | 'issueID'>;

let on: SharedAccount;
const read = (key: string, { id }: Pick<Ids, 'id'>) => on.get(key, `/api/v0.1/account/transaction?id=${id}`);
const discard = (key: string, { chiRef }: Pick<Ids, 'chiRef'>, headers?: Record<string, string>) =>
  on.post(key, '/account/delete-unpaid-transaction', { chiRef }, headers);

interface NamingOperation {
  operation: string;
  make: (key: string) => Promise<Transaction>;
  ask: (key: string, of: Ids, headers?: Record<string, string>) => Promise<Answer>;
  idOf: (of: Ids) => string;
}
const UNOWNED: Ids = {
  id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8',
  chiRef: '7d9a2c11-5b1f-4a57-9a4e-0d8f6f2f1c55',
  issueID: 'unowned_1_1700000000000',
};
const OPERATIONS: NamingOperation[] = [
  {
    operation: 'GET /account/transaction',
    make: (key) => on.credit(key),
    idOf: ({ id }) => id,
    ask: read,
  },
  {
    operation: 'POST /account/issue-id-transactions',
    make: (key) => on.credit(key),
    idOf: ({ issueID }) => issueID,
    ask: (key, { issueID }) => on.post(key, `/account/issue-id-transactions?issueID=${issueID}`, {}),
  },
  {
    operation: 'POST /account/delete-unpaid-transaction',
    make: (key) => on.link(key),
    idOf: ({ chiRef }) => chiRef,
    ask: discard,
  },
  {
    operation: 'POST /redeem/airtime',
    make: (key) => on.credit(key),
    idOf: ({ chiRef }) => chiRef,
    ask: (key, of, headers) => on.post(key, '/redeem/airtime', redemption(of), headers),
  },
  {
    operation: 'POST /collections/mobile-money/verify',
    make: (key) => on.collection(key),
    idOf: ({ id }) => id,
    ask: (key, { id }, headers) => on.post(key, '/collections/mobile-money/verify', { id }, headers),
  },
];

describe('transactions of the shared upstream account', () => {
  beforeAll(async () => {
    on = await startSharedAccount();
  });
  afterAll(() => on.close());

  describe.each(OPERATIONS)('$operation', ({ operation, make, ask, idOf }) => {
    it('answers for an own transaction, and returns 404 for others and for unowned ones', async () => {
      const own = await make(on.shop);
      const before = (await on.arrivals()).length;
      const [others, unknown] = [await ask(on.rival, own), await ask(on.rival, UNOWNED)];
      expect([others.status, others.body.code]).toEqual([404, 'object_not_found']);
      const words = ({ body: { call_id: _id, ...rest } }: Answer) => rest;
      expect(words(others)).toEqual(words(unknown));
      expect((await on.arrivals()).slice(before)).toEqual([]);
      const refused = await on.recordOf(others);
      expect(refused).toMatchObject({
        operation,
        outcome: 'refused',
        refusal: { status: 404, code: 'object_not_found' },
      });
      const answered = await ask(on.shop, own);
      expect([answered.status, JSON.stringify(answered.body)]).toEqual([
        200,
        expect.stringContaining(idOf(own)),
      ]);
      const arrived = (await on.arrivals()).slice(before);
      expect([arrived.length, arrived[0]]).toEqual([1, expect.stringContaining(operation)]);
    });

    it('answers a key with the scope account for the transactions of every client', async () => {
      const answered = await ask(on.whole, await make(on.shop));
      expect([answered.status, answered.body.code]).toEqual([200, undefined]);
    });
  });

  describe.each(OPERATIONS.filter(({ operation }) => !/GET|issue-id/.test(operation)))(
    '$operation',
    (naming) => {
      const { operation, make, ask } = naming;
      const key = (name: string) => ({ 'Idempotency-Key': `${name}-${operation.replaceAll(/\W/g, '')}` });

      it('replays the response of an own call only', async () => {
        const own = await make(on.shop);
        const first = await ask(on.shop, own, key('own'));
        const replayed = await ask(on.shop, own, key('own'));
        expect([replayed.status, replayed.headers['idempotent-replayed']]).toEqual([200, 'true']);
        expect(replayed.headers['x-call-id']).toBe(first.headers['x-call-id']);
        expect((await ask(on.rival, own, key('own'))).body.code).toBe('object_not_found');
      });

      it('is refused in a preview, which reveals nothing', async () => {
        const own = await make(on.shop);
        const redeems = operation === 'POST /redeem/airtime';
        const body = redeems
          ? redemption(own)
          : operation.endsWith('verify')
            ? { id: own.id }
            : { chiRef: own.chiRef };
        const preview = (by: string, more: object = {}) =>
          supertest(on.proxy.url)
            .post(`/v1/preview${operation.slice(5)}` as '/v1/preview/redeem/airtime')
            .set('X-API-Key', by)
            .send({ ...body, ...more });
        const refused = (await preview(on.rival).expect(200)).body;
        expect(refused).toMatchObject({
          would: 'be_refused',
          refusal: { code: 'object_not_found' },
          total_usd: null,
        });
        // A fault elsewhere in the body must not show the amount either.
        const faulty = (await preview(on.rival, { unknown: 1 }).expect(200)).body;
        expect(faulty).toMatchObject({ would: 'be_refused', total_usd: null });
        expect(faulty.items.map(({ amount_usd }) => amount_usd)).not.toContain('0.5');
        expect((await preview(on.shop).expect(200)).body.would).toBe('be_sent');
      });
    },
  );

  describe('that a call only refers to', () => {
    it('do not belong to its client', async () => {
      const own = await on.credit(on.shop);
      await on.post(on.whole, '/redeem/airtime', redemption(own));
      const { name, key } = await on.clients.create('named-only', [...APP, 'account']);
      await on.post(key, '/redeem/airtime', redemption(own));
      await discard(key, own);
      await on.clients.update(name, { scopes: APP });
      expect((await on.post(key, '/redeem/airtime', redemption(own))).body.code).toBe('object_not_found');
      expect((await on.listed(key)).map(({ chiRef }) => chiRef)).not.toContain(own.chiRef);
      expect((await read(on.shop, own)).body.data).toMatchObject({ chiRef: own.chiRef });
    });
  });

  describe('without an ID in any response', () => {
    it('belong at once to the client whose request has our ID', async () => {
      const own = await on.unnamed(on.shop);
      expect((await on.listed(on.shop)).map(({ chiRef }) => chiRef)).toContain(own.chiRef);
      expect((await on.listed(on.rival)).map(({ chiRef }) => chiRef)).not.toContain(own.chiRef);
      const theirs = await on.unnamed(on.rival);
      const before = (await on.arrivals()).length;
      const refused = await discard(on.rival, own);
      expect([refused.status, refused.body.code]).toEqual([404, 'object_not_found']);
      // The list is read, without the ID. The record of that read shows nothing of the transaction.
      expect((await on.arrivals()).slice(before)).toEqual(['POST /account/transactions [{},{}]']);
      const reads = '/v1/calls?operation=POST /account/transactions';
      const [call] = (await on.proxy.get(on.rival, reads).expect(200)).body.calls;
      expect(call).toMatchObject({ items: [] });
      expect(JSON.stringify(call)).not.toContain(own.chiRef);
      expect((await discard(on.shop, own)).status).toBe(200);
      expect((await discard(on.rival, theirs)).status).toBe(200);
    });

    it('belong to the client with a unique description after the follow-up finds them', async () => {
      const own = await on.unnamed(on.shop, { description: 'Sample' });
      expect((await read(on.shop, own)).body.code).toBe('object_not_found');
      const worker = await on.proxy.startWorker();
      await worker.get(FollowUpService, { strict: false }).runOnce();
      await worker.close();
      expect([(await read(on.shop, own)).status, (await read(on.rival, own)).status]).toEqual([200, 404]);
    });

    it('do not belong to a client whose ID another client copied into its request', async () => {
      const sent = await on.post(on.rival, '/send', { credit: [{ email: on.email(), valueInUSD: 1 }] });
      const made = await on.link(on.shop, { description: `Ref ${sent.headers['x-call-id'] ?? ''}` });
      expect((await discard(on.rival, made)).body.code).toBe('object_not_found');
      expect((await on.listed(on.rival)).map(({ chiRef }) => chiRef)).not.toContain(made.chiRef);
    });
  });

  it('are hidden while the index is rebuilt, because their owner is unknown', async () => {
    const own = await on.credit(on.shop);
    const before = (await on.arrivals()).length;
    // Like a crash of Postgres.
    await on.proxy.database.query(
      'TRUNCATE search_entry, search_item, search_name, search_slice, search_position',
    );
    const asked = [
      await read(on.shop, own),
      await read(on.rival, own),
      await on.post(on.shop, '/redeem/airtime', redemption(own)),
      await on.post(on.rival, '/redeem/airtime', redemption(own)),
    ];
    expect(asked.map(({ status, body: { code } }) => [status, code])).toEqual(
      asked.map(() => [503, 'database_unavailable']),
    );
    expect((await on.arrivals()).slice(before)).toEqual([]);
    const list = await on.post(on.shop, '/account/transactions', {});
    expect([list.status, list.body.data]).toEqual([503, undefined]);
    await on.proxy.database.query('SELECT build_search_indexes()');
    expect((await on.post(on.shop, '/redeem/airtime', redemption(own))).status).toBe(200);
  });

  describe('in lists', () => {
    it('are limited to those of the client, in the response and in the record', async () => {
      const [own, others] = [await on.credit(on.shop), await on.credit(on.rival)];
      const answer = await on.post(on.shop, '/account/transactions', {});
      const text = JSON.stringify(answer.body);
      expect([text.includes(own.chiRef), text.includes(others.chiRef)]).toEqual([true, false]);
      expect(text).not.toContain(others.email);
      const { body: record } = await on.proxy
        .get(on.shop, `/v1/calls/${answer.headers['x-call-id'] ?? ''}`)
        .expect(200);
      expect(JSON.stringify(record)).not.toContain(others.email);
      expect(JSON.stringify(await on.recordOf(answer))).not.toContain(others.email);
      const all = (await on.listed(on.whole)).map(({ chiRef }) => chiRef);
      expect(all).toEqual(expect.arrayContaining([own.chiRef, others.chiRef]));
    });

    it('are empty for a client without any', async () => {
      const { key } = await on.clients.create('newcomer', ['read']);
      expect(await on.listed(key)).toEqual([]);
    });
  });

  describe('of a person', () => {
    it('belong to keys of that person, and to keys of the client without an owner', async () => {
      const ada = (await on.clients.issueKey('shop', { person: 'ada' })).key;
      const bob = (await on.clients.issueKey('shop', { person: 'bob' })).key;
      const own = await on.credit(ada);
      expect((await read(bob, own)).body.code).toBe('object_not_found');
      expect((await on.listed(bob)).map(({ chiRef }) => chiRef)).not.toContain(own.chiRef);
      expect((await read(ada, own)).status).toBe(200);
      expect((await read(on.shop, own)).status).toBe(200);
      const impersonal = await on.credit(on.shop);
      expect((await read(ada, impersonal)).status).toBe(404);
    });
  });
});
