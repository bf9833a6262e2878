import { Pool } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { hashKey, newKey } from '../../src/access/clients/key';
import { GRANT, mint } from '../support/access/minting';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import type { Answer } from '../support/http/request';
import supertest from '../support/http/supertest';
import { answer, Behaviour, FakeUpstream, hang, reset, succeed } from '../support/network/fake-upstream';
import { removeDataDir } from '../support/processes/data-dir';
import { newDataDir, Product } from '../support/processes/process';
import { UPSTREAM_KEY } from '../support/processes/proxy';

const PERSON = { email: 'ada@example.com', phone: '+254712345678', handle: '@ada_lovelace' };
const SUCCESS = { status: 'success', data: { error: 'None' } };
const AIRTIME = { airtimes: [{ countryToSend: 'Kenya', phoneNumber: PERSON.phone, valueInUSD: 2 }] };
const CREDIT = { credits: [{ email: PERSON.email, twitter: PERSON.handle, valueInUSD: 1 }] };

const echo = (text: string) => ({ status: 'error', error: `${text} of ${PERSON.email}, ${PERSON.phone}` });
const escaped = UPSTREAM_KEY.replaceAll('-', '\\u002d');

/** Answers of an upstream that leak our key and its recipients. */
const UPSTREAMS: [string, Behaviour][] = [
  ['success', succeed],
  [
    'success that quotes the key',
    answer(200, { status: 'success', data: { key: UPSTREAM_KEY, again: UPSTREAM_KEY } }),
  ],
  ['the key escaped', answer(200, `{"status":"success","data":{"key":"${escaped}"}}`)],
  [
    'the key as a status and an id',
    answer(200, { ...SUCCESS, data: [{ chiRef: UPSTREAM_KEY, status: UPSTREAM_KEY }] }),
  ],
  [
    'the key in headers',
    answer(200, SUCCESS, { 'content-type': `application/json; key=${UPSTREAM_KEY}`, etag: UPSTREAM_KEY }),
  ],
  ['the key in a page', answer(404, `<h1>${UPSTREAM_KEY} is not known to ${PERSON.email}</h1>`)],
  ...[400, 401, 403, 429, 500, 502].map((status): [string, Behaviour] => [
    `${status} that quotes the key`,
    answer(status, echo(`key ${UPSTREAM_KEY} is not valid`), { 'retry-after': UPSTREAM_KEY }),
  ]),
  ['a redirect with the key', answer(302, '', { location: `/?key=${UPSTREAM_KEY}&email=${PERSON.email}` })],
  ['a reset', reset],
  [
    'something else than HTTP',
    (_request, _response, socket) => socket.end(`${UPSTREAM_KEY} ${PERSON.email}\r\n\r\n`),
  ],
  [
    'half an answer',
    (_request, _response, socket) =>
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n${UPSTREAM_KEY}`),
  ],
  ['nothing', hang],
];

/** The product as a process with its complete log. */
describe('a running proxy', () => {
  const dataDir = newDataDir();
  const answers: string[] = [];
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let product: Product;
  let ephemeral: string;
  let url: string;
  let app: string;
  let auditor: string;
  let metrics = '';

  async function client(name: string, scopes: string[]): Promise<string> {
    const [id, key] = [uuidv7(), newKey(name)];
    await database.query('INSERT INTO client (id, name, scopes) VALUES ($1, $2, $3)', [id, name, scopes]);
    await database.query('INSERT INTO api_key (id, client_id, sha256, hint) VALUES ($1, $1, $2, $3)', [
      id,
      hashKey(key),
      key.slice(-4),
    ]);
    return key;
  }

  /** Sends a request, and stores the complete response. */
  async function ask<Body>(request: Promise<Answer<Body>>): Promise<Answer<Body>> {
    const got = await request;
    answers.push(`${JSON.stringify(got.headers)}\n${got.text}`);
    return got;
  }
  const post = <const Path extends string>(path: Path, body: object | string, key = app) =>
    ask(supertest(url).post(path).set('X-API-Key', key).set('Content-Type', 'application/json').send(body));

  async function attack(): Promise<void> {
    for (const [, behaviour] of UPSTREAMS) {
      upstream.behaviour = behaviour;
      await post('/api/v0.1/payouts/airtime', AIRTIME);
      await post('/api/v0.1/payouts/credit', CREDIT);
    }
    upstream.behaviour = succeed;
    const grant = { ...GRANT, recipients: Object.values(PERSON) };
    ephemeral = (await mint({ url }, app, grant)).key; // not searched, because this answer must contain it
    for (const key of [ephemeral, `${ephemeral}x`]) await post('/api/v0.1/payouts/airtime', AIRTIME, key);
    await post('/v1/ephemeral-keys', grant, ephemeral);
    await post('/api/v0.1/payouts/credit', {
      credits: [{ email: `${PERSON.email}@`, twitter: 'ada_lovelace', valueInUSD: 0 }],
    });
    await post('/api/v0.1/payouts/airtime', {
      airtimes: [{ ...AIRTIME.airtimes[0], phoneNumber: `${PERSON.phone}x` }],
    });
    await post('/api/v0.1/payouts/credit', { [PERSON.email]: 1, [PERSON.phone]: 2 });
    await post('/api/v0.1/payouts/credit', `{"credits":[{"email":"${PERSON.email}`);
    await post(`/api/v0.1/${PERSON.email}/${PERSON.phone}?key=${UPSTREAM_KEY}`, {});
    await post('/api/v0.1/payouts/airtime', AIRTIME, `${app}x`);
    await post('/api/v0.1/payouts/airtime', AIRTIME, auditor);
    await ask(
      supertest(url).post('/api/v0.1/payouts/airtime').set('Authorization', `Bearer ${app}`).send(AIRTIME),
    );
    // The database's own errors quote the rejected rows.
    await database.query('ALTER TABLE intent_body ADD CONSTRAINT nobody CHECK (people IS NULL) NOT VALID');
    await post('/api/v0.1/payouts/airtime', AIRTIME);
    await post('/api/v0.1/payouts/credit', CREDIT);
    await database.query('ALTER TABLE intent_body DROP CONSTRAINT nobody');
    await upstream.stop();
    await post('/api/v0.1/payouts/airtime', AIRTIME);
    const audit = <const Path extends string>(path: Path) =>
      ask(supertest(url).get(`/v1/audit/calls${path}`).set('X-API-Key', auditor).expect(200));
    const { calls } = (await audit('?page_size=200')).body;
    for (const { id } of calls) await audit(`/${id}`);
    for (const path of ['/readyz', '/docs', '/openapi.json', '/openapi.staff.json'])
      await ask(supertest(url).get(path));
    metrics = (await ask(supertest(url).get('/metrics'))).text;
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    [app, auditor] = [
      await client('app', ['pay', 'write', 'read', 'account']),
      await client('auditor', ['audit']),
    ];
    const env = {
      PORT: '0',
      LOG_LEVEL: 'debug',
      START_WORKER: 'true',
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      DATABASE_OWNER_URL: database.ownerUrl,
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEY: UPSTREAM_KEY,
      UPSTREAM_TIMEOUT_MS: '400',
      DUPLICATE_GUARD: 'false',
    };
    product = new Product('main.js', [], env, dataDir);
    [, url = ''] = await product.said(/payout-proxy is ready\s+(http\S+)/);
    await attack();
    await product.signal('SIGTERM');
  });
  afterAll(async () => {
    await database.close();
    removeDataDir(dataDir);
  });

  const logs = () => product.stdout + product.stderr;

  /** Every row of every table, with bytes decoded as text. */
  async function dump(tables?: string[]): Promise<string> {
    const pool = new Pool({ connectionString: database.ownerUrl });
    const all = await pool.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    const rows: string[] = [];
    for (const { name } of all.rows.filter(({ name }) => !tables || tables.includes(name))) {
      const { rows: found } = await pool.query<Record<string, unknown>>(`SELECT * FROM ${name}`);
      for (const row of found) {
        const values = Object.values(row).map((value) =>
          Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value),
        );
        rows.push(`${name}: ${values.join(' ')}`);
      }
    }
    await pool.end();
    return rows.join('\n');
  }

  /** Lines with any of these words, to locate a failure. */
  const leaks = (text: string, words: string[]) =>
    text.split('\n').filter((line) => words.some((word) => line.toLowerCase().includes(word.toLowerCase())));
  const people = Object.values(PERSON).flatMap((value) => [value, value.slice(1), encodeURIComponent(value)]);

  it('has every response and failure of these tests in its records and logs', async () => {
    const kinds = await database.query('SELECT DISTINCT kind FROM outcome ORDER BY 1');
    expect(kinds.map(({ kind }) => kind)).toEqual(['not_sent', 'succeeded', 'unknown']);
    for (const code of ['database_unavailable', 'invalid_request', 'scope_missing', 'not_found']) {
      expect([code, await database.query('SELECT FROM refusal WHERE code = $1 LIMIT 1', [code])]).toEqual([
        code,
        [{}],
      ]);
    }
    expect(leaks(logs(), ['"outcome":"unknown"']).length).toBeGreaterThan(3);
    expect(leaks(logs(), ['"code":"database_unavailable"'])).toHaveLength(2);
    expect(upstream.received.every(({ headers }) => headers['x-api-key'] === UPSTREAM_KEY)).toBe(true);
  });

  it("keeps the upstream's key out of logs, responses, metrics and tables in any form", async () => {
    for (const text of [logs(), answers.join('\n'), metrics, await dump()]) {
      expect(leaks(text, [UPSTREAM_KEY, escaped])).toEqual([]);
    }
    expect(leaks(await dump(), ['[key removed]']).length).toBeGreaterThan(10); // it was quoted, and redacted
  });

  it("keeps a caller's key out of logs, responses, metrics and tables", async () => {
    for (const text of [logs(), answers.join('\n'), metrics, await dump()])
      expect(leaks(text, [app, auditor, ephemeral])).toEqual([]);
  });

  it('keeps people out of logs and metrics', () => {
    expect(leaks(logs(), people)).toEqual([]);
    expect(leaks(metrics, people)).toEqual([]);
  });

  it('keeps people out of the records, including refused requests', async () => {
    const tables = await database.query(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    const records = tables
      .map(({ name }) => name as string)
      .filter((name) => !/^(intent_body|outcome_body|access_filters|search_entry)/.test(name));
    expect(leaks(await dump(records), people)).toEqual([]);
    expect(leaks(await dump(), people).length).toBeGreaterThan(0);
  });

  it('hides people from an auditor without audit:pii', () => {
    const audit = answers.filter((text) => /\n\{("calls":|"id":"[0-9a-f-]{36}","operation")/.test(text));
    expect(audit.length).toBeGreaterThan(40);
    expect(leaks(audit.join('\n'), people)).toEqual([]);
  });

  it('logs one JSON object per line, with known names only', () => {
    const lines = product.stdout.split('\n').filter((line) => line.startsWith('{'));
    const names = new Set(lines.flatMap((line) => Object.keys(JSON.parse(line) as object)));
    const of = {
      line: 'level time msg context process job code err reason failure kind other_call_id',
      request:
        'call_id request_id client account key_id operation status fingerprint outcome duration_ms url',
      start: 'version commit address upstream schema timeout_s late_ms',
    };
    const allowed = Object.values(of).join(' ').split(' ');
    expect([...names].filter((name) => !allowed.includes(name))).toEqual([]);
    expect(lines.length).toBeGreaterThan(40);
  });
});
