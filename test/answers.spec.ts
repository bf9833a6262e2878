import { answer, Behaviour, FakeUpstream, reset } from './support/fake-upstream';
import { bytes, Paying, startPaying } from './support/paying';

/** The design's table of answers: what the upstream did, what the app gets, what the record says. */
interface Row {
  upstream: string;
  behaves: Behaviour;
  /** What the app gets: a status, and our code where the answer is not the upstream's own. */
  status: number;
  code?: string;
  body?: object;
  outcome: 'succeeded' | 'rejected' | 'unknown';
  failure?: string;
  upstreamStatus: number | null;
}

const envelope = (status: number, body: object | string): Pick<Row, 'behaves' | 'upstreamStatus' | 'status'> => ({
  behaves: answer(status, body),
  upstreamStatus: status,
  status,
});
const passed = (outcome: Row['outcome'], status: number, body: object) => ({
  ...envelope(status, body),
  outcome,
  body,
});
const unknown = (failure: string, upstreamStatus: number | null, behaves: Behaviour, status = 502) => ({
  behaves,
  status,
  code: 'outcome_unknown',
  outcome: 'unknown' as const,
  failure,
  upstreamStatus,
});
/** The app gets the upstream's own words, and the record says that they are not believed yet. */
const unverified = (status: number, body: object) => ({
  ...passed('unknown', status, body),
  failure: 'unverified_rejection',
});
const onSocket =
  (text: string): Behaviour =>
  (_request, _response, socket) =>
    socket.end(text);

const OK = { status: 'success', data: { paymentLink: 'https://pay.example.com/1' } };
const ERROR = { status: 'error', error: 'fail to send bulk airtime' };
const NAMED = { ...ERROR, data: { data: [{ chiRef: 'chi-1', id: 'one', status: 'paid' }] } };

const TABLE: Row[] = [
  { upstream: '200 success', ...passed('succeeded', 200, OK) },
  { upstream: '201 success', ...passed('succeeded', 201, OK) },
  { upstream: '200 SUCCESS in capitals', ...passed('succeeded', 200, { ...OK, status: 'SUCCESS' }) },
  {
    upstream: '200 success whose data.error is the text None',
    ...passed('succeeded', 200, { status: 'success', data: { error: 'None' } }),
  },
  { upstream: '200 success whose data.error is null', ...passed('succeeded', 200, { ...OK, data: { error: null } }) },
  {
    upstream: '200 success whose data.error is a text',
    ...passed('rejected', 200, { status: 'success', data: { error: 'not found for that id' } }),
  },
  { upstream: '200 error', ...passed('rejected', 200, ERROR) },
  {
    upstream: '200 error of the second kind',
    ...passed('rejected', 200, {
      status: 'error',
      type: 'Transaction Error',
      code: 'TRANSACTION_FAILED',
      message: '-',
    }),
  },
  { upstream: '400', ...passed('rejected', 400, { status: 'error', error: 'ERROR-REDEEMED' }) },
  { upstream: '404 with the error envelope', ...passed('rejected', 404, ERROR) },
  { upstream: '422', ...passed('rejected', 422, ERROR) },
  { upstream: '404 without the envelope', ...unknown('unreadable', 404, answer(404, { nothing: 'here' })) },
  { upstream: '404 HTML', ...unknown('unreadable', 404, answer(404, '<html>not here</html>')) },
  { upstream: '400 that says success', ...unknown('unreadable', 400, answer(400, OK)) },
  { upstream: '460', ...unknown('unreadable', 460, answer(460, '')) },
  { upstream: '499', ...unknown('unreadable', 499, answer(499, '')) },
  { upstream: '500 with the error envelope', ...unverified(500, ERROR) },
  { upstream: '500 with the error envelope that names a transaction', ...unverified(500, NAMED) },
  { upstream: '400 that names a transaction', ...unverified(400, NAMED) },
  { upstream: '200 error that names a transaction', ...unverified(200, NAMED) },
  { upstream: '401 that names a transaction', ...unknown('unverified_rejection', 401, answer(401, NAMED)) },
  {
    upstream: '200 success whose data.error is a text beside transactions',
    ...passed('succeeded', 200, { status: 'success', data: { ...NAMED.data, error: '1 of 3 items failed' } }),
  },
  { upstream: '401', ...envelope(401, ERROR), status: 502, code: 'upstream_auth', outcome: 'rejected' },
  { upstream: '403', ...envelope(403, ERROR), status: 502, code: 'upstream_auth', outcome: 'rejected' },
  { upstream: '429', ...envelope(429, ERROR), status: 503, code: 'upstream_busy', outcome: 'rejected' },
  { upstream: '401 text', ...envelope(401, 'no'), status: 502, code: 'upstream_auth', outcome: 'rejected' },
  { upstream: '403 HTML', ...envelope(403, '<html>'), status: 502, code: 'upstream_auth', outcome: 'rejected' },
  { upstream: '429 text', ...envelope(429, 'slow'), status: 503, code: 'upstream_busy', outcome: 'rejected' },
  {
    upstream: '200 success whose data.error is no text',
    ...unknown('unreadable', 200, answer(200, { status: 'success', data: { error: false } })),
  },
  {
    upstream: '200 of neither success nor error',
    ...unknown('unreadable', 200, answer(200, { ...OK, status: 'queued' })),
  },
  { upstream: '200 HTML', ...unknown('unreadable', 200, answer(200, '<html>welcome</html>')) },
  { upstream: '200 of half a JSON text', ...unknown('unreadable', 200, answer(200, '{"status":"success","da')) },
  { upstream: '204 without a body', ...unknown('unreadable', 204, answer(204, '')) },
  {
    upstream: '200 compressed though we asked for plain bytes',
    ...unknown('unreadable', 200, answer(200, OK, { 'content-encoding': 'gzip' })),
  },
  { upstream: '302', ...unknown('redirect', 302, answer(302, '', { location: '/elsewhere' })) },
  { upstream: '304', ...unknown('redirect', 304, answer(304, '')) },
  { upstream: '408', ...unknown('timeout', 408, answer(408, ERROR), 504) },
  { upstream: '500 without the envelope', ...unknown('server_error', 500, answer(500, '<h1>Oops</h1>')) },
  { upstream: '500 that says success', ...unknown('server_error', 500, answer(500, OK)) },
  {
    upstream: '500 that says success with an error in its data',
    ...unknown('server_error', 500, answer(500, { status: 'success', data: { error: 'no' } })),
  },
  { upstream: '502 HTML', ...unknown('server_error', 502, answer(502, '<html>Bad gateway</html>')) },
  { upstream: '502 even with the envelope', ...unknown('server_error', 502, answer(502, ERROR)) },
  { upstream: '503 even with the envelope', ...unknown('server_error', 503, answer(503, ERROR)) },
  { upstream: 'reads the request and resets the connection', ...unknown('reset', null, reset) },
  {
    upstream: 'closes in the middle of a body of known length',
    ...unknown('reset', null, onSocket('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"status":"success",')),
  },
  {
    upstream: 'closes in the middle of a chunked 400',
    ...unknown('reset', null, onSocket('HTTP/1.1 400 No\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"sta')),
  },
  {
    upstream: 'closes in the middle of a body of unknown length',
    ...unknown('unreadable', 200, onSocket('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"status":"success",')),
  },
  { upstream: 'answers in another protocol', ...unknown('unreadable', null, onSocket('SSH-2.0-OpenSSH_9.9\r\n')) },
  {
    upstream: 'answers more than UPSTREAM_MAX_RESPONSE_BYTES',
    ...unknown('oversized', null, answer(200, { ...OK, more: 'x'.repeat(20_000) })),
  },
  {
    upstream: 'answers with a header of 100 kB',
    ...unknown('oversized', null, answer(200, OK, { 'x-long': 'x'.repeat(100_000) })),
  },
];

describe('the table of answers: what the app gets and what is recorded when the upstream answers', () => {
  let paying: Paying;
  beforeAll(async () => (paying = await startPaying({ upstreamMaxResponseBytes: 10_000 })));
  afterAll(() => paying.close());
  beforeEach(() => (paying.upstream.received.length = 0));

  it.each(TABLE)('$upstream', async (row) => {
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
    const doubtful = (await paying.listed('unknown')).includes(got.headers['x-call-id'] ?? '');
    expect(doubtful).toBe(row.outcome === 'unknown');
  });

  it.each([200, 404, 500])('passes the bytes of a %i on, and keeps them, as they are', async (status) => {
    const text = `\n{ "status" :\t"${status === 200 ? 'success' : 'error'}", "error": "\\u00e9 \u00e9 \ud83d\ude00", "n":1.10E+2,
      "big":123456789012345678901234567890, "twice":1, "twice":2, "__proto__":{"a":null} }\r\n \n`;
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

  it.each(['GET', 'POST'])('answers %s of a read operation the same way, with a call in doubt too', async (method) => {
    paying.upstream.behaviour = answer(502, 'Bad gateway');
    const { proxy, app } = paying;
    const got = await (method === 'GET'
      ? proxy.get(app, '/api/v0.1/wallets/list')
      : proxy.post(app, '/wallets/list', {}));
    expect([got.status, got.body.code]).toEqual([502, 'outcome_unknown']);
    const asked = { method: 'GET', body: '' };
    expect(paying.upstream.received).toMatchObject([asked, asked, asked]); // what reads is tried again
  });

  it("tells a limited upstream's own seconds, and one second where it names none", async () => {
    paying.upstream.behaviour = answer(429, ERROR, { 'retry-after': '37' });
    expect((await paying.pay()).headers['retry-after']).toBe('37');
    paying.upstream.behaviour = answer(429, ERROR, { 'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT' });
    expect((await paying.pay()).headers['retry-after']).toBe('1');
  });

  it("never shows the app the upstream's word that a key is wrong", async () => {
    paying.upstream.behaviour = answer(401, { status: 'error', error: 'key is not defined. Generate a new one' });
    expect((await paying.pay()).text).not.toContain('key is not defined');
  });

  it('follows no redirect, to its own host or another', async () => {
    const other = await FakeUpstream.start();
    for (const status of [301, 302, 303, 307, 308]) {
      paying.upstream.behaviour = answer(status, '', { location: `${other.url}/api/v0.1/payouts/airtime` });
      await paying.pay().expect(502);
    }
    expect(paying.upstream.received).toHaveLength(5);
    expect(other.received).toEqual([]);
    await other.stop();
  });

  it('gives a page from a machine in between as text, never as a page of ours', async () => {
    paying.upstream.behaviour = answer(404, '<script>alert(1)</script>');
    const got = await paying.proxy.get(paying.app, '/api/v0.1/wallets/list').expect(404);
    expect(got.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
  });

  it('sends the exact JSON that was validated, our key, and nothing of the caller', async () => {
    paying.upstream.behaviour = answer(200, OK);
    await paying.pay().set('Cookie', 'a=b').set('Authorization', 'Bearer x').set('X-Forwarded-For', '203.0.113.9');
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

  it("keeps the upstream's other headers to itself", async () => {
    paying.upstream.behaviour = answer(200, OK, { 'set-cookie': 'session=1', get: '1', has: '1', server: 'upstream' });
    const got = await paying.pay().expect(200);
    expect(got.headers).not.toMatchObject({ 'set-cookie': expect.anything() });
    expect(got.headers.server).toBeUndefined();
  });
});
