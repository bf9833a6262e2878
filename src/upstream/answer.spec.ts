import fc from 'fast-check';
import { Exchange, FailureCode, toAnswer } from './answer';

type Response = Extract<Exchange, { status: number }>;

function response(status: number, body: object | string, more: Partial<Response> = {}): Response {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, contentType: null, contentEncoding: null, retryAfter: null, body: Buffer.from(text), ...more };
}
const kindOf = (status: number, body: object | string, more?: Partial<Response>) =>
  toAnswer(response(status, body, more)).kind;

const SUCCESS = { status: 'success', data: {} };
const ERROR = { status: 'error', error: 'no' };

describe('toAnswer', () => {
  it.each<FailureCode>(['refused', 'dns', 'tls', 'timeout', 'reset'])(
    'takes %s for notSent only if nothing was written',
    (failure) => {
      expect(toAnswer({ failure, written: false })).toMatchObject({ kind: 'notSent', failure, status: null });
      expect(toAnswer({ failure, written: true })).toMatchObject({ kind: 'unknown', failure, status: null });
    },
  );

  it.each([undefined, null, '', 'None', 'none', 'NONE'])('takes a data.error of %j for none', (error) => {
    expect(kindOf(200, { status: 'success', data: { error } })).toBe('succeeded');
  });

  it.each([false, 0, 1, {}, [], ['x']])('takes a data.error of %j for neither success nor rejection', (error) => {
    expect(kindOf(200, { status: 'success', data: { error } })).toBe('unknown');
  });

  it.each([{}, [], null, undefined, 'text', 7])('takes success with data %j for success', (data) => {
    expect(kindOf(200, { status: 'success', data })).toBe('succeeded');
  });

  it.each(['[]', '"success"', 'null', '', '\ufeff', '{"status":["success"]}', '{"status":"ok"}', '{"data":{}}'])(
    'takes a 2xx of %j for unknown',
    (body) => expect(kindOf(200, body)).toBe('unknown'),
  );

  it('takes a success with broken UTF-8 in a text for success: its bytes travel, not our reading of them', () => {
    const body = Buffer.concat([
      Buffer.from('{"status":"success","data":{"name":"'),
      Buffer.of(0xff),
      Buffer.from('"}}'),
    ]);
    expect(kindOf(200, '', { body })).toBe('succeeded');
  });

  it.each([
    [500, ERROR, 'rejected'],
    [500, SUCCESS, 'unknown'],
    [500, { status: 'success', data: { error: 'no' } }, 'unknown'],
    [501, ERROR, 'unknown'],
    [502, ERROR, 'unknown'],
    [503, ERROR, 'unknown'],
    [504, ERROR, 'unknown'],
    [599, ERROR, 'unknown'],
    [999, SUCCESS, 'unknown'],
    [408, ERROR, 'unknown'],
    [301, SUCCESS, 'unknown'],
    [400, 'no envelope', 'rejected'],
    [418, SUCCESS, 'rejected'],
    [499, '', 'rejected'],
  ])('takes %i %j for %s', (status, body, kind) => expect(kindOf(status, body)).toBe(kind));

  it('does not read what it cannot: a compressed answer of any status is unknown', () => {
    expect(kindOf(200, SUCCESS, { contentEncoding: 'gzip' })).toBe('unknown');
    expect(kindOf(400, ERROR, { contentEncoding: 'br' })).toBe('unknown');
    expect(kindOf(200, SUCCESS, { contentEncoding: 'Identity' })).toBe('succeeded');
  });

  it('says succeeded of nothing but a 2xx whose JSON says success, for any bytes and status', () => {
    const bytes = fc.oneof(
      fc.uint8Array().map((array) => Buffer.from(array)),
      fc.json().map((text) => Buffer.from(text)),
      fc
        .record({ status: fc.constantFrom('success', 'error', 'x'), data: fc.jsonValue() })
        .map((value) => Buffer.from(JSON.stringify(value))),
    );
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 999 }), bytes, (status, body) => {
        const { kind } = toAnswer(response(status, '', { body }));
        const says = /"status"\s*:\s*"success"/i.test(body.toString());
        if (kind === 'succeeded') expect([status < 300, says]).toEqual([true, true]);
        expect(kind).not.toBe('notSent');
      }),
    );
  });
});
