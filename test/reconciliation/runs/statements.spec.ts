import { request as httpRequest } from 'node:http';
import { LOCKS } from '../../../src/platform/database/locks';
import { JOBS } from '../../../src/platform/jobs/job';
import supertest from '../../support/http/supertest';
import { eventually } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { HEADER, LINE, MAPPING } from '../../support/reconciliation/statement';

describe('statements', () => {
  let proxy: TestProxy;
  let key: string;

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:9' });
    ({ key } = await proxy.client('recon', 'reconcile', 'audit:pii'));
  });

  afterAll(() => proxy.close());

  const hand = (
    file: string | Buffer,
    mapping: object | string = MAPPING,
    more: Record<string, string> = {},
    by = key,
  ) =>
    supertest(proxy.url)
      .post('/v1/reconciliation/statements')
      .query({ mapping: typeof mapping === 'string' ? mapping : JSON.stringify(mapping), ...more })
      .set({ 'X-API-Key': by, 'Content-Type': 'text/csv' })
      .send(file);
  const read = async (file: string | Buffer, mapping?: object | string, more?: Record<string, string>) =>
    (await hand(file, mapping, more).expect(201)).body;
  const rowsOf = (readId: string) =>
    proxy.database.query(
      `SELECT ordinal::integer AS line, upstream_ref, amount_usd, fee_usd, issued_at, status,
         email, phone, handle, receiver
       FROM upstream_transaction WHERE read_id = $1 ORDER BY ordinal`,
      [readId],
    );

  it('are imported during a resolver round, which has a separate lock', async () => {
    const lock = [LOCKS.job, JOBS.resolve];
    await proxy.database.query('SELECT pg_advisory_lock($1, $2)', lock);
    await read([HEADER, LINE.replace('c-1', 'meanwhile')].join('\n'));
    await proxy.database.query('SELECT pg_advisory_unlock($1, $2)', lock);
  });

  it('are imported line by line, with line and column of unusable lines', async () => {
    const file = [
      HEADER,
      LINE,
      'c-2,twelve,2026-11-20T10:00:00Z,paid,ada@example.com',
      'c-3,,,,',
      'c-4,1,yesterday,paid,@ada',
      'c-5,1',
      'c-6,0.0000005,1763632800000,,ada@example.com',
    ].join('\n');
    const statement = await read(file, MAPPING, { file: 'for +254712345678.csv' });
    expect(statement).toMatchObject({
      rows: 6,
      kept: 2,
      fault_count: 4,
      bytes: file.length,
      already_imported: false,
      file: 'for +254••••5678.csv',
      mapping: { columns: MAPPING, delimiter: 'comma', decimal_comma: false },
      faults: [
        { line: 3, reason: 'Amount is not an amount' },
        { line: 4, reason: 'Amount is empty' },
        { line: 5, reason: 'Date is not a time in ISO 8601 or in milliseconds since 1970' },
        { line: 6, reason: 'has 2 columns, but the first line has 5' },
      ],
    });
    const none = { fee_usd: null, email: null, phone: null, handle: null, receiver: null };
    expect(await rowsOf(statement.read_id)).toEqual([
      {
        ...none,
        line: 2,
        upstream_ref: 'c-1',
        amount_usd: '12.500000',
        status: 'paid',
        phone: '+254712345678',
        issued_at: new Date('2026-11-20T10:00:00Z'),
      },
      {
        ...none,
        line: 7,
        upstream_ref: 'c-6',
        amount_usd: '0.000001',
        status: null,
        email: 'ada@example.com',
        issued_at: new Date(1_763_632_800_000),
      },
    ]);
  });

  it('may have a byte order mark, CRLF, quoted line ends, empty lines, and no final line end', async () => {
    const lines = ['c-1,1,,"two\r\nlines",', '', '"c-""2""",2,,,@ada', '"c,3","3",,,account-17'];
    const file = `\ufeff${[HEADER, ...lines].join('\r\n')}`;
    const { read_id: readId, rows, kept } = await read(file);
    expect([rows, kept]).toEqual([3, 3]);
    expect(await rowsOf(readId)).toMatchObject([
      { line: 2, upstream_ref: 'c-1', status: 'two\r\nlines' },
      { line: 5, upstream_ref: 'c-"2"', handle: '@ada' },
      { line: 6, upstream_ref: 'c,3', receiver: 'account-17', amount_usd: '3.000000' },
    ]);
  });

  it('may have any number of empty lines without an effect on line numbers', async () => {
    const empty = '\n'.repeat(200_000);
    const lines = [
      'upstream_ref,amount_usd,reference',
      'a,1,"x\n\ny"',
      'b,one,',
      empty,
      'c,1,"z\n"',
      'd,none,"v\nw"',
    ];
    const statement = await read(lines.join('\n'), 'fields');
    expect(statement.faults.map(({ line }) => line)).toEqual([5, 200_009]);
    expect((await rowsOf(statement.read_id)).map(({ line }) => line)).toEqual([2, 200_007]);
  });

  it('are recognized when imported again with the same mapping, even concurrently', async () => {
    const file = `${HEADER}\n${LINE}\n`;
    const both = await Promise.all([hand(file), hand(file)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 201]);
    expect(new Set(both.map(({ body }) => body.read_id)).size).toBe(1);
    expect((await hand(file).expect(200)).body).toMatchObject({ already_imported: true, kept: 1 });
    const other = await read(file, { ...MAPPING, recipient: undefined });
    expect(other.read_id).not.toBe(both[0]?.body.read_id);
  });

  it('may have other delimiters and number formats', async () => {
    const file = 'upstream_ref;amount_usd;fee_usd\na;"1.234,5";0,05\nb;1,234.5;\nc;USD 7;\nd;12.34;';
    const statement = await read(file, 'fields', { delimiter: 'semicolon', decimal_comma: 'true' });
    expect(statement.faults.map(({ line }) => line)).toEqual([3, 5]);
    expect(await rowsOf(statement.read_id)).toMatchObject([
      { upstream_ref: 'a', amount_usd: '1234.500000', fee_usd: '0.050000' },
      { upstream_ref: 'c', amount_usd: '7.000000', fee_usd: null },
    ]);
  });

  it.each<[string, object | string, RegExp]>([
    ['invalid JSON', '{', /must be one of fields, upstream, or JSON/],
    ['a field twice', '{"amount_usd":"Amount","amount_usd":"Date"}', /must be one of fields, upstream/],
    ['an unknown field', { ...MAPPING, colour: 'x' }, /must name fields of upstream_ref, upstream_id/],
    ['no amount', { upstream_ref: 'Reference ID' }, /must map a column to amount_usd/],
    ['no identifying field', { amount_usd: 'Amount' }, /at least one of upstream_ref/],
    ['a column name that is not a string', { ...MAPPING, upstream_id: 7 }, /the name of a column/],
    ['a contact', { ...MAPPING, upstream_id: 'ada@example.com' }, /must not be a contact/],
    [
      'a missing column',
      { ...MAPPING, upstream_id: 'ID' },
      /names the column ID, .* Reference ID, Amount, Date, State, To$/,
    ],
    ['a preset with missing columns', 'upstream', /amount_usd; its columns are Reference ID/],
  ])('explain the fault of a mapping with %s', async (_what, mapping, detail) => {
    const { body } = await hand(`${HEADER}\n${LINE}`, mapping).expect(400);
    expect(body).toMatchObject({ code: 'invalid_request', errors: [{ pointer: '/mapping' }] });
    expect(body.errors?.[0]?.detail).toMatch(detail);
  });

  it('never name a person in messages about columns', async () => {
    const { body } = await hand('c-1,12,,,ada@example.com\n').expect(400);
    expect(body.errors?.[0]?.detail).toMatch(/its columns are c-1, 12, , , …$/);
  });

  it.each([
    ['a column twice', `Amount,${HEADER}\n1,${LINE}`, /Amount, which exists twice/],
    ['no content', '', /is empty/],
    ['an unclosed quote', `${HEADER}\n"c-1,1,,,\n${LINE}\n`, /ends inside a quoted value/],
  ])('are rejected with %s', async (_what, file, detail) => {
    const { body } = await hand(file).expect(400);
    expect(body.errors?.[0]?.detail).toMatch(detail);
  });

  it('leave no complete reading if they break off', async () => {
    const before = await proxy.database.query('SELECT count(*)::integer AS reads FROM source_read');
    await new Promise<void>((resolve) => {
      const upload = httpRequest(
        `${proxy.url}/v1/reconciliation/statements?mapping=${encodeURIComponent(JSON.stringify(MAPPING))}`,
        {
          method: 'POST',
          headers: { 'X-API-Key': key, 'Content-Type': 'text/csv', 'Content-Length': 1_000_000 },
        },
      );
      upload.on('error', () => resolve());
      upload.write(`${HEADER}\n${LINE}\n${LINE}\n`);
      const began = setInterval(() => {
        void proxy.database.query('SELECT count(*)::integer AS reads FROM source_read').then(([now]) => {
          if (now?.reads === before[0]?.reads) return;
          clearInterval(began);
          upload.destroy();
        });
      }, 10);
    });
    const ended = 'SELECT complete, failure FROM source_read_end ORDER BY read_id DESC LIMIT 1';
    const last =
      'SELECT id FROM source_read r WHERE NOT EXISTS (SELECT FROM source_read_end WHERE read_id = r.id)';
    await eventually(async () => (await proxy.database.query(last)).length === 0);
    expect(await proxy.database.query(ended)).toEqual([{ complete: false, failure: 'unreadable' }]);
  });

  it('may be larger than any other body, and are listed newest first with their faults', async () => {
    const line = (index: number) => `${'r'.repeat(180)}${index},1.5,2026-11-20T10:00:00Z,paid,bad`;
    const many = Array.from({ length: 6_000 }, (_, index) => line(index));
    const bad = Array.from({ length: 150 }, () => 'x,none,,,');
    const file = [HEADER, ...many, ...bad].join('\n');
    expect(file.length).toBeGreaterThan(1_048_576);
    const { read_id: readId, faults } = await read(file);
    expect(faults).toHaveLength(100);
    const [{ count }] = (await proxy.database.query(
      'SELECT count(*)::integer FROM upstream_transaction WHERE read_id = $1',
      [readId],
    )) as [{ count: number }];
    expect(count).toBe(6_000);
    const first = await proxy.get(key, '/v1/reconciliation/statements?page_size=1').expect(200);
    expect(first.body.statements).toMatchObject([{ read_id: readId, rows: 6_150, fault_count: 150 }]);
    const token = first.body.next_page_token;
    const next = await proxy
      .get(key, `/v1/reconciliation/statements?page_size=1&page_token=${token}`)
      .expect(200);
    expect(next.body.statements[0]!.read_id < readId).toBe(true);
    const one = await proxy.get(key, `/v1/reconciliation/statements/${readId}`).expect(200);
    expect(one.body.faults).toHaveLength(150);
    await proxy.get(key, '/v1/reconciliation/statements/nonsense').expect(404);
  });

  it('require the scope, and their content type opens no other route', async () => {
    const { key: other } = await proxy.client('other', 'pay', 'audit');
    await hand(`${HEADER}\n${LINE}`, MAPPING, {}, other).expect(403);
    const csv = { 'X-API-Key': other, 'Content-Type': 'text/csv' };
    const refused = await supertest(proxy.url)
      .post('/api/v0.1/payouts/airtime')
      .set(csv)
      .send('a,b')
      .expect(400);
    expect(JSON.stringify(refused.body)).toContain('must be JSON, sent with Content-Type: application/json');
    const json = supertest(proxy.url)
      .post('/v1/reconciliation/statements')
      .query({ mapping: JSON.stringify(MAPPING) });
    const { body } = await json.set('X-API-Key', key).send({ a: 1 }).expect(400);
    expect(body.errors?.[0]?.detail).toMatch(/send the file with Content-Type: text\/csv/);
  });
});
