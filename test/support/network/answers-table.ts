import { answer, Behaviour, reset } from './fake-upstream';

/** An answer of the upstream, with the app's response and the record. */
export interface AnswerRow {
  upstream: string;
  behaves: Behaviour;
  /** The app's response: a status, and the proxy's code unless it is the upstream's own answer. */
  status: number;
  code?: string;
  body?: object;
  outcome: 'succeeded' | 'unknown';
  failure?: string;
  upstreamStatus: number | null;
}

const envelope = (
  status: number,
  body: object | string,
): Pick<AnswerRow, 'behaves' | 'upstreamStatus' | 'status'> => ({
  behaves: answer(status, body),
  upstreamStatus: status,
  status,
});
const passed = (outcome: AnswerRow['outcome'], status: number, body: object) => ({
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
/** The app gets the upstream's own answer, and the record marks it as doubtful. */
const unverified = (status: number, body: object, failure = 'unverified_rejection') => ({
  ...passed('unknown', status, body),
  failure,
});
/** The upstream rejects or limits the proxy's key. */
const atTheDoor = (upstreamStatus: number, body: object | string) => ({
  ...unknown(
    'unverified_rejection',
    upstreamStatus,
    answer(upstreamStatus, body),
    upstreamStatus === 429 ? 503 : 502,
  ),
  code: upstreamStatus === 429 ? 'upstream_busy' : 'upstream_auth',
});
const onSocket =
  (text: string): Behaviour =>
  (_request, _response, socket) =>
    socket.end(text);

export const OK = { status: 'success', data: { paymentLink: 'https://pay.example.com/1' } };
export const ERROR = { status: 'error', error: 'fail to send bulk airtime' };
const NAMED = { ...ERROR, data: { data: [{ chiRef: 'chi-1', id: 'one', status: 'paid' }] } };

export const TABLE: AnswerRow[] = [
  { upstream: '200 success', ...passed('succeeded', 200, OK) },
  { upstream: '201 success', ...passed('succeeded', 201, OK) },
  { upstream: '200 SUCCESS in capitals', ...passed('succeeded', 200, { ...OK, status: 'SUCCESS' }) },
  {
    upstream: '200 success whose data.error is the text None',
    ...passed('succeeded', 200, { status: 'success', data: { error: 'None' } }),
  },
  {
    upstream: '200 success whose data.error is null',
    ...passed('succeeded', 200, { ...OK, data: { error: null } }),
  },
  {
    upstream: '200 success whose data.error is a text',
    ...unverified(200, { status: 'success', data: { error: 'not found for that id' } }),
  },
  { upstream: '200 error', ...unverified(200, ERROR) },
  {
    upstream: '200 error of the second kind',
    ...unverified(200, {
      status: 'error',
      type: 'Transaction Error',
      code: 'TRANSACTION_FAILED',
      message: '-',
    }),
  },
  { upstream: '400', ...unverified(400, { status: 'error', error: 'ERROR-REDEEMED' }) },
  { upstream: '404 with the error envelope', ...unverified(404, ERROR) },
  { upstream: '422', ...unverified(422, ERROR) },
  { upstream: '404 without the envelope', ...unknown('unreadable', 404, answer(404, { nothing: 'here' })) },
  { upstream: '404 HTML', ...unknown('unreadable', 404, answer(404, '<html>not here</html>')) },
  { upstream: '400 that says success', ...unknown('unreadable', 400, answer(400, OK)) },
  { upstream: '460', ...unknown('unreadable', 460, answer(460, '')) },
  { upstream: '499', ...unknown('unreadable', 499, answer(499, '')) },
  { upstream: '500 with the error envelope', ...unverified(500, ERROR) },
  {
    upstream: '500 with the error envelope that names a transaction',
    ...unverified(500, NAMED, 'contradictory'),
  },
  { upstream: '400 that names a transaction', ...unverified(400, NAMED, 'contradictory') },
  { upstream: '200 error that names a transaction', ...unverified(200, NAMED, 'contradictory') },
  { upstream: '401 that names a transaction', ...unknown('contradictory', 401, answer(401, NAMED)) },
  {
    upstream: '200 success whose data.error is a text beside transactions',
    ...passed('succeeded', 200, { status: 'success', data: { ...NAMED.data, error: '1 of 3 items failed' } }),
  },
  { upstream: '401', ...atTheDoor(401, ERROR) },
  { upstream: '403', ...atTheDoor(403, ERROR) },
  { upstream: '429', ...atTheDoor(429, ERROR) },
  { upstream: '401 text', ...atTheDoor(401, 'no') },
  {
    upstream: '403 HTML',
    ...atTheDoor(403, '<html>'),
  },
  { upstream: '429 text', ...atTheDoor(429, 'slow') },
  {
    upstream: '200 success whose data.error is no text',
    ...unknown('unreadable', 200, answer(200, { status: 'success', data: { error: false } })),
  },
  {
    upstream: '200 of neither success nor error',
    ...unknown('unreadable', 200, answer(200, { ...OK, status: 'queued' })),
  },
  { upstream: '200 HTML', ...unknown('unreadable', 200, answer(200, '<html>welcome</html>')) },
  {
    upstream: '200 of half a JSON text',
    ...unknown('unreadable', 200, answer(200, '{"status":"success","da')),
  },
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
    ...unknown(
      'unreadable',
      200,
      onSocket('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"status":"success",'),
    ),
  },
  {
    upstream: 'answers in another protocol',
    ...unknown('unreadable', null, onSocket('SSH-2.0-OpenSSH_9.9\r\n')),
  },
  {
    upstream: 'answers more than UPSTREAM_MAX_RESPONSE_BYTES',
    ...unknown('oversized', null, answer(200, { ...OK, more: 'x'.repeat(20_000) })),
  },
  {
    upstream: 'answers with a header of 100 kB',
    ...unknown('oversized', null, answer(200, OK, { 'x-long': 'x'.repeat(100_000) })),
  },
];
