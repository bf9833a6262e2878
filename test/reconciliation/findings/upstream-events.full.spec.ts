import { createHmac } from 'node:crypto';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { createSandbox, Sandbox } from '../../../src/sandbox/app';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { first } from '../../support/examples/first';
import type { Method } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { eventually } from '../../support/payments/paying';
import { startProxy, TestProxy, UPSTREAM_KEY } from '../../support/processes/proxy';
import { askSandbox, dataIn } from '../../support/sandbox/sandbox-answers';

const SECRET = 'shared-with-the-upstream';
const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };

/** Events of the upstream are recorded once, never trusted, and verified by a read. */
describe('POST /hooks/upstream', () => {
  let database: TestDatabase;
  let sandbox: Sandbox;
  let proxy: TestProxy;
  let app: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await createSandbox({ databaseUrl: database.sandboxUrl, port: 0, apiKey: UPSTREAM_KEY });
    const settings = {
      upstreamWebhookSecret: new Secret(SECRET),
      resolverEverySeconds: 3_600,
      upstreamTimeoutMs: 5_000,
    };
    proxy = await startProxy({ upstreamBaseUrl: sandbox.url, ...settings }, database);
    await proxy.startWorker();
    app = (await proxy.client('app', 'pay')).key;
  });
  afterAll(async () => {
    await proxy.close();
    await sandbox.close();
    await database.close();
  });

  const now = () => Math.floor(Date.now() / 1_000);
  const sign = (id: string, at: number | string, body: string, key: string | Buffer = SECRET) =>
    `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`;
  const deliver = (headers: Record<string, string>, body: string, url = proxy.url) =>
    supertest(url).post('/hooks/upstream').set('content-type', 'application/json').set(headers).send(body);
  const signed = (id: string, body: string, at = now()) =>
    deliver(
      { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': sign(id, at, body) },
      body,
    );
  const events = () =>
    database.query<{ id: string; event_id: string; batch_ref: string; status: string }>(
      'SELECT *, amount_usd::text AS amount FROM upstream_event ORDER BY id',
    );
  const event = async (id: string) => (await events()).find(({ event_id }) => event_id === id);
  const readsFor = (id: string) =>
    database.query(
      `SELECT r.source, r.subject, e.complete, t.upstream_ref, t.status FROM source_read r
        JOIN source_read_end e ON e.read_id = r.id
       LEFT JOIN upstream_transaction t ON t.read_id = r.id WHERE r.caused_by = $1`,
      [id],
    );
  const control = <Verb extends Method, const Path extends string>(method: Verb, path: Path, body?: object) =>
    askSandbox(sandbox.url)[method](`/_sandbox${path}`).set(CONTROL).send(body);
  const pay = (phoneNumber: string) =>
    proxy.post(app, '/payouts/airtime', {
      airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD: 0.25 }],
    });

  it('accepts an event once after three deliveries, and reads it back', async () => {
    const told = { url: `${proxy.url}/hooks/upstream`, secret: SECRET, copies: 3, reversed: true };
    await control('patch', '/settings', { events: told }).expect(200);
    const paid = await pay('+254712345678').expect(200);
    const transaction = first(dataIn('POST /payouts/airtime', paid).data);
    await eventually(async () => (await events()).some(({ batch_ref }) => batch_ref === transaction.issueID));
    await control('patch', '/settings', { events: { url: '' } }).expect(200);
    const told1 = await events();
    expect(told1).toHaveLength(1);
    const { id, ...row } = first(told1);
    expect(row).toMatchObject({
      event_type: 'transaction.paid',
      batch_ref: transaction.issueID,
      upstream_id: transaction.id,
      upstream_ref: transaction.chiRef,
      status: 'paid',
      amount: '0.25',
    });
    await eventually(async () => (await readsFor(id)).length > 0);
    expect(await readsFor(id)).toEqual([
      {
        source: 'batch',
        subject: transaction.issueID,
        complete: true,
        upstream_ref: transaction.chiRef,
        status: 'paid',
      },
    ]);
  });

  it('schedules an early poll for a call in doubt', async () => {
    await control('post', '/faults', {
      fault: 'resetAfterProcessing',
      nth: 1,
      operation: 'POST /payouts/airtime',
    });
    const { headers } = await pay('+254712345679').expect(502);
    const id = headers['x-call-id'] ?? '';
    expect((await signed('hint', '{"issueID":"another"}').expect(200)).body).toEqual({ status: 'recorded' });
    await eventually(async () => (await proxy.get(app, `/v1/calls/${id}`)).body.outcome === 'confirmed');
  });

  it('keeps events for the next worker', async () => {
    const lone = await startProxy({
      upstreamBaseUrl: sandbox.url,
      upstreamWebhookSecret: new Secret(SECRET),
    });
    const body = '{"issueID":"a batch of nobody"}';
    const sentAt = now();
    const headers = { 'webhook-id': 'early', 'webhook-timestamp': String(sentAt) };
    for (const id of ['early', 'late']) {
      const signature = sign(id, sentAt, body);
      await deliver({ ...headers, 'webhook-id': id, 'webhook-signature': signature }, body, lone.url).expect(
        200,
      );
    }
    expect(await lone.database.query('SELECT kind FROM worker_task')).toEqual([
      { kind: 'read_back' },
      { kind: 'read_back' },
    ]);
    await lone.startWorker();
    await eventually(async () => (await lone.database.query('SELECT FROM worker_task')).length === 0);
    expect(await lone.database.query('SELECT source, subject FROM source_read')).toEqual([
      { source: 'batch', subject: 'a batch of nobody' }, // one for both
    ]);
    await lone.close();
  });

  it.each([
    ['another secret', { signature: sign('x', now(), '{}', 'guess') }],
    ['another body', { signature: sign('x', now(), '{"issueID":"y"}') }],
    ['another ID', { signature: sign('z', now(), '{}') }],
    ['another time', { signature: sign('x', now() - 1, '{}') }],
    ['an unknown kind of signature', { signature: sign('x', now(), '{}').replace('v1', 'v2') }],
    ['none', {}],
    ['an invalid ID', { id: 'x\u00e9', signature: sign('x\u00e9', now(), '{}') }],
    ['an invalid time', { timestamp: 'now', signature: sign('x', 'now', '{}') }],
  ])('rejects %s', async (_, given) => {
    const before = (await events()).length;
    const all = { id: 'x', timestamp: String(now()), ...given };
    const headers = Object.fromEntries(Object.entries(all).map(([part, value]) => [`svix-${part}`, value]));
    const { body, type } = await deliver(headers, '{}').expect(401);
    expect([type, body.code]).toEqual(['application/problem+json', 'invalid_signature']);
    expect(await events()).toHaveLength(before);
  });

  it('rejects old events, and events from the future', async () => {
    for (const at of [now() - 310, now() + 310]) {
      expect((await signed('late', '{}', at).expect(400)).body.code).toBe('stale_event');
    }
    await signed('within', '{}', now() - 290).expect(200);
  });

  it('accepts one of several signatures, and finds an event in the other family of headers', async () => {
    const at = now();
    const signature = `v1,${'A'.repeat(43)}= v1a,x ${sign('rotated', at, '{}')}`;
    const headers = (family: string) => ({
      [`${family}-id`]: 'rotated',
      [`${family}-timestamp`]: String(at),
      [`${family}-signature`]: signature,
    });
    expect((await deliver(headers('svix'), '{}').expect(200)).body).toEqual({ status: 'recorded' });
    expect((await deliver(headers('webhook'), '{}').expect(200)).body).toEqual({ status: 'known' });
  });

  it('records the known fields of a body, whatever their content', async () => {
    const odd = {
      eventType: ['x'],
      issueID: 7,
      chiRef: 123456789012,
      amount: 'much',
      status: 'x\u0000y',
      meta: null,
    };
    await signed('odd', JSON.stringify(odd)).expect(200);
    expect(await event('odd')).toMatchObject({
      event_type: null,
      batch_ref: '7',
      upstream_id: null,
      amount: null,
      status: 'xy',
      upstream_ref: '123456789012',
    });
    await signed('long', '{"chiRef":12345678901234567,"issueID":12345678901234568}').expect(200);
    expect(await event('long')).toMatchObject({
      upstream_ref: '12345678901234567',
      batch_ref: '12345678901234568',
    });
    await signed('person', JSON.stringify({ status: 'sent to ada@example.com' })).expect(200);
    expect((await event('person'))?.status).toBe('sent to a••@example.com');
    for (const body of ['[]', '7', 'null']) await signed(`body ${body}`.replace(' ', '-'), body).expect(200);
    expect((await signed('broken', '{').expect(400)).body.code).toBe('invalid_request');
  });

  it('reads no more bytes than the size limit of an event', async () => {
    const body = JSON.stringify({ padding: 'x'.repeat(65_536) });
    expect((await signed('large', body).expect(400)).body.errors?.[0]?.detail).toContain('65536 bytes');
    await supertest(proxy.url).post('/hooks/upstream').expect(401); // nor fewer
  });

  it('returns 404 without a secret', async () => {
    const other = await startProxy({ upstreamBaseUrl: sandbox.url }, database);
    const at = now();
    const headers = {
      'webhook-id': 'a',
      'webhook-timestamp': String(at),
      'webhook-signature': sign('a', at, '{}'),
    };
    expect((await deliver(headers, '{}', other.url).expect(404)).body.code).toBe('not_found');
    await other.close();
  });
});
