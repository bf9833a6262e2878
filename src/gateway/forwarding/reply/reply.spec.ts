import { Answer } from '../../upstream/answers/answer';
import { toReply } from './reply';

const ID = '01999999-0000-7000-8000-000000000000';
const BODY = Buffer.from('{ "status":"success" }');
const NOTHING = { contentType: null, retryAfter: null };
const answered = (status: number, more: Partial<Answer> = {}) =>
  ({ kind: 'rejected', failure: null, status, body: BODY, ...NOTHING, ...more }) as Answer;
const bodyOf = (answer: Answer) =>
  JSON.parse(toReply(answer, ID, 'pay').body.toString()) as { error: string };

describe('toReply', () => {
  it.each([200, 400, 404, 409, 500])('passes on an upstream %i with the same bytes', (status) => {
    const reply = toReply(answered(status), ID, 'pay');
    expect(reply.status).toBe(status);
    expect(reply.body).toBe(BODY);
    expect(reply.headers['retry-after']).toBeUndefined();
  });

  it.each([401, 403])('hides an upstream %i for our own key', (status) => {
    expect(toReply(answered(status), ID, 'pay')).toMatchObject({
      status: 502,
      headers: { 'retry-after': undefined },
    });
    expect(bodyOf(answered(status))).toMatchObject({ status: 'error', code: 'upstream_auth', call_id: ID });
  });

  it.each([
    [0, 0],
    [37, 37],
    [null, 1],
  ])('returns a limit of %s seconds as %i', (retryAfter, seconds) => {
    expect(toReply(answered(429, { retryAfter }), ID, 'pay')).toMatchObject({
      status: 503,
      headers: { 'retry-after': seconds },
    });
    expect(bodyOf(answered(429))).toMatchObject({ code: 'upstream_busy', call_id: ID });
  });

  it.each<[status: number, retryAfter: number | null, seconds: number]>([
    [401, null, 30],
    [403, null, 30],
    [429, null, 30],
    [429, 37, 37],
  ])(
    'tells the app to wait until an unverified %i with Retry-After %s is verified',
    (status, retryAfter, seconds) => {
      const doubt = { ...answered(status, { retryAfter }), kind: 'unknown', failure: 'unverified_rejection' };
      const reply = toReply(doubt as Answer, ID, 'pay', { quietMs: 30_000 });
      expect(reply.headers['retry-after']).toBe(seconds);
      expect(JSON.parse(reply.body.toString())).toMatchObject({ action: 'wait', call_id: ID });
    },
  );

  it.each([200, 400, 500])('passes on an unverified %i with the same bytes', (status) => {
    const doubt = { ...answered(status), kind: 'unknown', failure: 'unverified_rejection' } as Answer;
    expect(toReply(doubt, ID, 'pay', { quietMs: 30_000 })).toMatchObject({ status, body: BODY });
  });

  it('suggests a retry only if nothing was sent', () => {
    const notSent: Answer = { kind: 'not_sent', failure: 'refused', status: null, body: null, ...NOTHING };
    expect(toReply(notSent, ID, 'pay')).toMatchObject({ status: 503, headers: { 'retry-after': 1 } });
    expect(bodyOf(notSent)).toMatchObject({ code: 'upstream_unreachable', call_id: ID });
  });

  it('sends Retry-After while the upstream fails', () => {
    const notSent = { kind: 'not_sent', status: null, body: null, contentType: null } as const;
    const open: Answer = { ...notSent, failure: 'circuit_open', retryAfter: 4 };
    expect(toReply(open, ID, 'pay')).toMatchObject({ status: 503, headers: { 'retry-after': 4 } });
    expect(bodyOf(open)).toMatchObject({ code: 'upstream_unreachable' });
  });

  it('names the ID of the call to read, and allows a read to be sent again', () => {
    const unknown: Answer = { kind: 'unknown', failure: 'reset', status: null, body: null, ...NOTHING };
    expect(bodyOf(unknown).error).toContain(`Do not send it again. GET /v1/calls/${ID} `);
    const read = JSON.parse(toReply(unknown, ID, 'read').body.toString()) as unknown;
    expect(read).toMatchObject({
      code: 'outcome_unknown',
      error: expect.stringContaining('safe to try again'),
    });
  });

  it.each(['timeout', 'reset', 'redirect', 'unreadable', 'oversized', 'server_error'] as const)(
    'does not suggest a retry after %s',
    (failure) => {
      const unknown: Answer = { kind: 'unknown', failure, status: null, body: null, ...NOTHING };
      expect(toReply(unknown, ID, 'pay')).toMatchObject({
        status: failure === 'timeout' ? 504 : 502,
        headers: { 'retry-after': undefined },
      });
      expect(bodyOf(unknown)).toMatchObject({ code: 'outcome_unknown', call_id: ID });
    },
  );

  it.each([
    ['application/json', 'application/json'],
    ['Application/JSON; charset=utf-8', 'Application/JSON; charset=utf-8'],
    ['application/json;charset="UTF-8"', 'application/json;charset="UTF-8"'],
    ['application/json; note=secret; charset=utf-8', 'application/json'],
    ['application/json; charset=\u00e9', 'application/json'],
    ['application/jsonp', 'text/plain; charset=utf-8'],
    ['text/html', 'text/plain; charset=utf-8'],
    ['image/svg+xml', 'text/plain; charset=utf-8'],
    [null, 'text/plain; charset=utf-8'],
  ])('returns content of type %s as %s', (contentType, returned) => {
    expect(toReply(answered(200, { contentType }), ID, 'pay').contentType).toBe(returned);
  });
});
