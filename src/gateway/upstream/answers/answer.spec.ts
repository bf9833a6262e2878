import fc from 'fast-check';
import { Exchange, FailureCode, toAnswer } from './answer';
import { transactionsIn } from './transactions';

type Response = Extract<Exchange, { status: number }>;

function response(status: number, body: object | string, more: Partial<Response> = {}): Response {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, contentType: null, isDecoded: true, retryAfter: null, body: Buffer.from(text), ...more };
}
const PAY = { effect: 'pay' } as const;
const READ = { effect: 'read' } as const;
const UNLISTED = { effect: 'write', unlisted: true } as const;
const kindOf = (status: number, body: object | string, more?: Partial<Response>) =>
  toAnswer(response(status, body, more), PAY).kind;
const meaningOf = (status: number, body: object | string, request: Parameters<typeof toAnswer>[1]) => {
  const { kind, failure } = toAnswer(response(status, body), request);
  return failure === null ? kind : failure;
};

const SUCCESS = { status: 'success', data: {} };
const ERROR = { status: 'error', error: 'no' };

describe('toAnswer', () => {
  it.each<FailureCode>(['refused', 'dns', 'tls', 'timeout', 'reset'])(
    'treats %s as not_sent only if nothing was written',
    (failure) => {
      expect(toAnswer({ failure, written: false }, PAY)).toMatchObject({
        kind: 'not_sent',
        failure,
        status: null,
      });
      expect(toAnswer({ failure, written: true }, PAY)).toMatchObject({
        kind: 'unknown',
        failure,
        status: null,
      });
    },
  );

  it.each([undefined, null, '', 'None', 'none', 'NONE'])('treats a data.error of %j as no error', (error) => {
    expect(kindOf(200, { status: 'success', data: { error } })).toBe('succeeded');
  });

  it.each([false, 0, 1, {}, [], ['x']])(
    'treats a data.error of %j as neither success nor rejection',
    (error) => {
      expect(kindOf(200, { status: 'success', data: { error } })).toBe('unknown');
    },
  );

  it.each([{}, [], null, undefined, 'text', 7])('treats success with data %j as success', (data) => {
    expect(kindOf(200, { status: 'success', data })).toBe('succeeded');
  });

  it.each([
    '[]',
    '"success"',
    'null',
    '',
    '\ufeff',
    '{"status":["success"]}',
    '{"status":"ok"}',
    '{"data":{}}',
  ])('treats a 2xx of %j as unknown', (body) => expect(kindOf(200, body)).toBe('unknown'));

  it.each([
    '{"status":"success","status":"error","data":{}}',
    '{"status":"error","error":"no","st\\u0061tus":"success"}',
    '{"status":"success","data":{"data":[{"id":"1","status":"failed","status":"paid"}]}}',
  ])('treats %s as unreadable, because parsers differ on duplicate names', (body) => {
    expect(meaningOf(200, body, PAY)).toBe('unreadable');
    expect(meaningOf(200, body, READ)).toBe('unreadable');
  });

  it('treats a success with broken UTF-8 in a text as success, because its bytes are passed on', () => {
    const body = Buffer.concat([
      Buffer.from('{"status":"success","data":{"name":"'),
      Buffer.of(0xff),
      Buffer.from('"}}'),
    ]);
    expect(kindOf(200, '', { body })).toBe('succeeded');
  });

  it.each([
    [500, ERROR, 'unknown'],
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
    [400, 'no envelope', 'unknown'],
    [404, '<html>', 'unknown'],
    [418, SUCCESS, 'unknown'],
    [460, '', 'unknown'],
    [499, '', 'unknown'],
  ])('treats %i %j as %s', (status, body, kind) => expect(kindOf(status, body)).toBe(kind));

  it.each<[number, object | string, string, string, string]>([
    [500, ERROR, 'unverified_rejection', 'rejected', 'rejected'],
    [400, ERROR, 'unverified_rejection', 'rejected', 'rejected'],
    [404, ERROR, 'unverified_rejection', 'rejected', 'rejected'],
    [200, ERROR, 'unverified_rejection', 'rejected', 'rejected'],
    [400, 'no envelope', 'unreadable', 'unreadable', 'rejected'],
    [499, '', 'unreadable', 'unreadable', 'rejected'],
    [401, '', 'unverified_rejection', 'rejected', 'rejected'],
    [403, '<html>', 'unverified_rejection', 'rejected', 'rejected'],
    [429, 'slow down', 'unverified_rejection', 'rejected', 'rejected'],
    [200, { status: 'success', data: { error: 'no' } }, 'unverified_rejection', 'rejected', 'rejected'],
    [500, { ...ERROR, data: { chiRef: 'a' } }, 'contradictory', 'contradictory', 'rejected'],
  ])(
    'treats %i %j of a payment as %s, of an operation that no list shows as %s, of a read as %s',
    (status, body, ...meanings) => {
      expect([PAY, UNLISTED, READ].map((request) => meaningOf(status, body, request))).toEqual(meanings);
    },
  );

  it.each([200, 400, 401, 403, 404, 429, 500])(
    'rejects no error envelope with %i that names created objects',
    (status) => {
      const named = [
        { ...ERROR, data: [{ chiRef: 'a' }] },
        { ...ERROR, data: { data: { tnxID: 'a' } } },
        { ...ERROR, data: { credits: [{ chiRef: 'a' }] } },
        { ...ERROR, chiRef: 'a' },
        { ...ERROR, transactions: { first: [{ CHIREF: null }] } },
        { ...ERROR, data: { issueID: 'a' } },
        { ...ERROR, data: { payouts: { 0: { status: 'Sent' } } } },
        { ...ERROR, data: { paymentLink: 'https://pay.example.com' } },
      ];
      for (const body of named) expect(meaningOf(status, body, UNLISTED)).toBe('contradictory');
      const empty = { data: [], credits: [], payouts: [], issueID: '', payoutLink: null };
      expect(meaningOf(status, { ...ERROR, data: empty }, PAY)).toBe('unverified_rejection');
      expect(meaningOf(status, { ...ERROR, data: empty }, UNLISTED)).toBe('rejected');
    },
  );

  it('believes no error about a payment, whatever its text, status and body', () => {
    const error = fc.oneof(
      fc.record({ status: fc.constant('error'), error: fc.string() }),
      fc.record({ status: fc.constant('error'), code: fc.string(), message: fc.string() }),
      fc.record({ status: fc.constant('success'), data: fc.record({ error: fc.string() }) }),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), error, (status, body) => {
        expect(kindOf(status, body)).not.toBe('rejected');
      }),
    );
  });

  it('treats a success with an error text and transactions as a success', () => {
    const data = { error: '1 of 3 items failed', data: [{ chiRef: 'a', status: 'paid' }] };
    expect(meaningOf(200, { status: 'success', data }, PAY)).toBe('succeeded');
    expect(meaningOf(200, { status: 'success', data: { ...data, data: [] } }, UNLISTED)).toBe('rejected');
  });

  it('never returns a rejection for an answer with a transaction, for any answer', () => {
    const part: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>('paid', null, 1),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(
          fc.constantFrom('data', 'credits', 'chiRef', 'tnxID', 'error', 'payouts'),
          tie('value'),
          {
            maxKeys: 3,
          },
        ),
      ),
    })).value;
    const status = fc.oneof(
      fc.constantFrom(200, 400, 401, 403, 404, 429, 500),
      fc.integer({ min: 200, max: 599 }),
    );
    fc.assert(
      fc.property(status, fc.constantFrom('success', 'error'), part, (status, word, data) => {
        const body = Buffer.from(JSON.stringify({ status: word, error: 'no', data }));
        const { kind } = toAnswer(response(status, '', { body }), UNLISTED);
        if (transactionsIn(body).length > 0) expect(kind).not.toBe('rejected');
      }),
    );
  });

  it('reads an answer of any depth', () => {
    const body = `{"status":"error","data":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    expect(meaningOf(400, body, UNLISTED)).toBe('rejected');
  });

  it('returns unknown for an answer of any status that cannot be decoded', () => {
    expect(kindOf(200, SUCCESS, { isDecoded: false })).toBe('unknown');
    expect(kindOf(400, ERROR, { isDecoded: false })).toBe('unknown');
  });

  it('returns succeeded only for a 2xx whose JSON says success, for any bytes and status', () => {
    const bytes = fc.oneof(
      fc.uint8Array().map((array) => Buffer.from(array)),
      fc.json().map((text) => Buffer.from(text)),
      fc
        .record({ status: fc.constantFrom('success', 'error', 'x'), data: fc.jsonValue() })
        .map((value) => Buffer.from(JSON.stringify(value))),
    );
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 999 }), bytes, (status, body) => {
        const { kind } = toAnswer(response(status, '', { body }), PAY);
        const says = /"status"\s*:\s*"success"/i.test(body.toString());
        if (kind === 'succeeded') expect([status < 300, says]).toEqual([true, true]);
        expect(kind).not.toBe('not_sent');
      }),
    );
  });
});
