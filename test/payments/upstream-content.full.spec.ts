import { fromStored, StoredBytes } from '../../src/platform/database/rows/stored-body';
import { airtime, bytes, PaymentScene, phones, startPaying } from '../support/payments/paying';

const TRANSACTION = { chiRef: 'c', id: 'i', issueID: 's', status: 'paid', valueInUSD: 2.5 };
const success = (data: unknown) => Buffer.from(JSON.stringify({ status: 'success', data }));
const withTransaction = (more: object) => success({ data: [{ ...TRANSACTION, ...more }], error: 'None' });
const raw = (text: string) => Buffer.from(`{"status":"success","data":{"data":[{"chiRef":"c",${text}}]}}`);

/** No text of an upstream can prevent the record of an outcome. */
describe('an answer of the upstream', () => {
  let paying: PaymentScene;
  beforeAll(async () => (paying = await startPaying()));
  afterAll(() => paying.close());

  it.each<[string, Buffer]>([
    ['NUL characters', withTransaction({ chiRef: 'a\0b', id: '\0', status: '\0\0' })],
    ['lone surrogates', raw('"id":"\\ud83d","status":"x\\udc00y","issueID":"\\udc00\\ud83d"')],
    ['a surrogate pair split by our own limit', withTransaction({ id: `${'x'.repeat(254)}\ud83d\ude00` })],
    ['invalid UTF-8', Buffer.concat([raw('"id":"i"'), Buffer.from(' ')]).fill(0xff, 40, 43)],
    [
      'IDs of a megabyte',
      withTransaction({ chiRef: 'c'.repeat(1e6), id: 'i'.repeat(1e6), status: 's'.repeat(1e6) }),
    ],
    ['amounts beyond every column', raw('"valueInUSD":1e400')],
    ['amounts with a hundred thousand digits', withTransaction({ valueInUSD: '9'.repeat(1e5) })],
    ['invalid amounts', withTransaction({ valueInUSD: 'NaN' })],
    ['amounts in other notations', withTransaction({ valueInUSD: '0x1F' })],
    [
      'objects, lists and numbers as IDs',
      withTransaction({ chiRef: 1e21, id: { a: [1] }, issueID: [], status: 0 }),
    ],
    ['SQL in statuses', withTransaction({ status: "'); DROP TABLE outcome; --", id: '{"a":"\\x00"}' })],
    ['property names of every object', raw('"__proto__":{"id":"x"},"constructor":{"name":"y"},"toString":1')],
    ['ten thousand transactions', success({ data: Array.from({ length: 10_000 }, () => TRANSACTION) })],
    ['lists in lists, ten thousand deep', raw(`"id":${'['.repeat(10_000)}${']'.repeat(10_000)}`)],
    ['a list of lists as its data', success([[TRANSACTION], [[TRANSACTION]]])],
    ['a megabyte of spaces', Buffer.concat([success({}), Buffer.alloc(1e6, ' ')])],
  ])('is passed on and recorded as a success: %s', async (_what, body) => {
    paying.upstream.behaviour = (_request, response) => response.end(body);
    const got = await paying.pay().buffer(true).parse(bytes);
    expect(got.status).toBe(200);
    expect(body.equals(got.body)).toBe(true);
    const [row] = await paying.proxy.database.query<StoredBytes & { kind: string }>(
      `SELECT o.kind, b.body, b.coding
       FROM outcome o JOIN outcome_body b USING (intent_id) WHERE o.intent_id = $1`,
      [got.headers['x-call-id']],
    );
    expect([row?.kind, row && body.equals(fromStored(row))]).toEqual(['succeeded', true]);
    expect(await paying.record(got)).toMatchObject({ outcome: 'succeeded' });
  });

  it.each([
    'application/json; charset="\u00e9\u00ff"',
    'application/json;\tcharset=utf-8',
    `application/json; x=${'y'.repeat(4_000)}`,
    '',
  ])('is recorded with the content type %j, and only known types are passed on', async (type) => {
    paying.upstream.behaviour = (_request, response) =>
      response.writeHead(200, { 'content-type': type }).end(withTransaction({}));
    const got = await paying.pay().expect(200);
    expect(got.headers['content-type']).toMatch(/^(application\/json|text\/plain)(;\s*charset=utf-8)?$/);
    expect(await paying.record(got)).toMatchObject({ outcome: 'succeeded' });
  });

  it('links transactions to the items they pay, and excludes others', async () => {
    const [first = '', second = ''] = phones(2);
    const airtimes = [...airtime(first).airtimes, ...airtime(second).airtimes];
    const of = (phoneNumber: string, chiRef: string) => ({
      ...TRANSACTION,
      phoneNumber,
      chiRef,
      id: `id-${chiRef}`,
    });
    const data = { data: [of(second, 'of-second'), of(first, 'of-first'), of('+254799999999', 'of-nobody')] };
    paying.upstream.behaviour = (_request, response) => response.end(success(data));
    const record = await paying.record(
      await paying.proxy.post(paying.app, '/payouts/airtime', { airtimes }).expect(200),
    );
    expect(record.items.map((item) => item.upstream?.upstream_ref)).toEqual(['of-first', 'of-second']);
    expect(record.upstream!.other_items.map((item) => item.upstream_ref)).toEqual(['of-nobody']);
  });

  it('is recorded even when several of eight megabytes arrive at once', async () => {
    const body = Buffer.concat([success({}), Buffer.alloc(8_000_000, ' ')]);
    paying.upstream.behaviour = (_request, response) => response.end(body);
    const all = await Promise.all(phones(4).map((phone) => paying.pay(phone).buffer(true).parse(bytes)));
    const rows = await paying.proxy.database.query<StoredBytes>(
      'SELECT body, coding FROM outcome_body WHERE intent_id = ANY($1::uuid[])',
      [all.map(({ headers }) => headers['x-call-id'])],
    );
    expect(all.map(({ status }) => status)).toEqual(Array(4).fill(200));
    expect(rows.map((row) => body.equals(fromStored(row)))).toEqual(Array(4).fill(true));
  });
});
