import { brotliCompressSync, gzipSync } from 'node:zlib';
import { ERROR, OK, TABLE } from '../support/network/answers-table';
import { answer, FakeUpstream } from '../support/network/fake-upstream';
import { bytes, PaymentScene, startPaying } from '../support/payments/paying';
import { UPSTREAM_KEY } from '../support/processes/proxy';

describe('the proxy, after an upstream response', () => {
  let paying: PaymentScene;
  beforeAll(async () => (paying = await startPaying({ upstreamMaxResponseBytes: 10_000 })));
  afterAll(() => paying.close());
  beforeEach(() => (paying.upstream.received.length = 0));

  /** Whether the call of each row is in doubt, by call ID. */
  const outcomes = new Map<string, boolean>();

  it.each(TABLE)('responds to the app and records the outcome: $upstream', async (row) => {
    paying.upstream.behaviour = row.behaves;
    const got = await paying.pay();
    expect(got.status).toBe(row.status);
    const ours = {
      status: 'error',
      error: expect.any(String),
      code: row.code,
      action: expect.any(String),
      call_id: got.headers['x-call-id'],
    };
    expect(got.body).toEqual(row.body ?? ours);
    expect(paying.upstream.received).toHaveLength(1); // sent, and never sent again
    const { outcome, upstream } = await paying.record(got);
    expect(outcome).toBe(row.outcome);
    expect(upstream).toMatchObject({ status: row.upstreamStatus, failure: row.failure ?? null });
    outcomes.set(got.headers['x-call-id'] ?? '', row.outcome === 'unknown');
  });

  it('lists exactly the calls in doubt as unknown', async () => {
    const doubtful = [...outcomes].filter(([, isDoubtful]) => isDoubtful).map(([id]) => id);
    expect(outcomes.size).toBe(TABLE.length);
    expect((await paying.listed('unknown')).sort()).toEqual(doubtful.sort());
  });

  it.each([200, 404, 500])('passes the bytes of a %i through, and stores them unchanged', async (status) => {
    const word = status === 200 ? 'success' : 'error';
    const text = `\n{ "status" :\t"${word}", "error": "\\u00e9 \u00e9 \ud83d\ude00", "n":1.10E+2,
      "big":123456789012345678901234567890, "__proto__":{"a":null} }\r\n \n`;
    const body = Buffer.concat([Buffer.from(text), Buffer.from(' ')]);
    paying.upstream.behaviour = (_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    const got = await paying.pay().buffer(true).parse(bytes).expect(status);
    expect(got.body).toEqual(body);
    expect(got.headers['content-type']).toBe('application/json');
    const [kept] = await paying.proxy.database.query('SELECT body FROM outcome_body WHERE intent_id = $1', [
      got.headers['x-call-id'],
    ]);
    expect(kept?.body).toEqual(body);
  });

  it.each(['GET', 'POST'])(
    'treats responses to %s of a read operation alike, including calls in doubt',
    async (method) => {
      paying.upstream.behaviour = answer(502, 'Bad gateway');
      const { proxy, app } = paying;
      const got = await (method === 'GET'
        ? proxy.get(app, '/api/v0.1/wallets/list')
        : proxy.post(app, '/wallets/list', {}));
      expect([got.status, got.body.code]).toEqual([502, 'outcome_unknown']);
      const read = { method: 'GET', body: '' };
      expect(paying.upstream.received).toMatchObject([read, read, read]); // reads are retried
    },
  );

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('decodes %s, which it did not request, and stores the forwarded body', async (coding, encode) => {
    const text = JSON.stringify({ status: 'success', data: { name: 'x'.repeat(5_000), echo: UPSTREAM_KEY } });
    paying.upstream.behaviour = (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding })
        .end(encode(text));
    const got = await paying.pay().buffer(true).parse(bytes).expect(200);
    expect(got.body.toString()).toBe(text.replace(UPSTREAM_KEY, '[key removed]'));
    expect(got.headers['content-encoding']).toBeUndefined();
    const [kept] = await paying.proxy.database.query('SELECT body FROM outcome_body WHERE intent_id = $1', [
      got.headers['x-call-id'],
    ]);
    expect(kept?.body).toEqual(got.body);
    expect((await paying.record(got)).outcome).toBe('succeeded');
  });

  it('stops decoding at the size limit, and leaves the call in doubt', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    paying.upstream.behaviour = (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(bomb.subarray(0, 9_000));
    const got = await paying.pay().expect(502);
    expect(await paying.record(got)).toMatchObject({
      outcome: 'unknown',
      upstream: { failure: 'unreadable' },
    });
  });

  it('forwards the Retry-After of a rate-limited upstream, and defaults to the quiet period', async () => {
    paying.upstream.behaviour = answer(429, ERROR, { 'retry-after': '37' });
    expect((await paying.pay()).headers['retry-after']).toBe('37');
    const at = new Date(Date.now() + 3_600_000).toUTCString();
    paying.upstream.behaviour = answer(429, ERROR, { 'retry-after': at });
    const seconds = Number((await paying.pay()).headers['retry-after']);
    expect(seconds).toBeGreaterThan(3_000);
    expect(seconds).toBeLessThanOrEqual(3_600);
    paying.upstream.behaviour = answer(429, ERROR, { 'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT' });
    expect((await paying.pay()).headers['retry-after']).toBe('30');
  });

  it('hides an upstream error about a wrong key from the app', async () => {
    paying.upstream.behaviour = answer(401, {
      status: 'error',
      error: 'key is not defined. Generate a new one',
    });
    expect((await paying.pay()).text).not.toContain('key is not defined');
  });

  it('never follows redirects, to the same host or another', async () => {
    const other = await FakeUpstream.start();
    for (const status of [301, 302, 303, 307, 308]) {
      paying.upstream.behaviour = answer(status, '', { location: `${other.url}/api/v0.1/payouts/airtime` });
      await paying.pay().expect(502);
    }
    expect(paying.upstream.received).toHaveLength(5);
    expect(other.received).toEqual([]);
    await other.stop();
  });

  it('returns a page of an intermediary as text', async () => {
    paying.upstream.behaviour = answer(404, '<script>alert(1)</script>');
    const got = await paying.proxy.get(paying.app, '/api/v0.1/wallets/list').expect(404);
    expect(got.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
  });

  it('sends the validated JSON unchanged, with its own key and no other header of the caller', async () => {
    paying.upstream.behaviour = answer(200, OK);
    await paying
      .pay()
      .set('Cookie', 'a=b')
      .set('Authorization', 'Basic x')
      .set('X-Forwarded-For', '203.0.113.9');
    const [received] = paying.upstream.received;
    expect(received?.body).toBe(
      '{"airtimes":[{"countryToSend":"Kenya","phoneNumber":"+254712345678","valueInUSD":2.5}]}',
    );
    expect(Object.keys(received?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'x-api-key',
    ]);
  });

  it('drops other upstream headers', async () => {
    paying.upstream.behaviour = answer(200, OK, {
      'set-cookie': 'session=1',
      get: '1',
      has: '1',
      server: 'upstream',
    });
    const got = await paying.pay().expect(200);
    expect(got.headers).not.toMatchObject({ 'set-cookie': expect.anything() });
    expect(got.headers.server).toBeUndefined();
  });
});
