import fc from 'fast-check';
import { runs } from '../../../../test/support/examples/runs';
import { allows, covers, fingerprintOf, merge, Shape, shapeOf, valueIn } from './shape';

const PERSON = { email: 'ada@example.com', phone: '+254712345678', id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' };
const shapeOfBody = (body: string) => shapeOf(valueIn(Buffer.from(body)));
const hash = (value: unknown) => fingerprintOf(shapeOf(value)).toString('hex');
const field = (shape: Shape, ...path: string[]): Shape =>
  path.reduce<Shape>((at, name) => (typeof at === 'object' && at.properties?.[name]) || false, shape);

/** Names as services give them to fields. */
const name = fc.oneof(
  fc.constantFrom(
    'chiRef',
    'email',
    'valueInUSD',
    '_seconds',
    '__proto__',
    'constructor',
    'toString',
    'line2',
  ),
  fc.stringMatching(/^[a-z_]{1,6}$/),
);
/** JSON as the upstream may send it, small enough that nothing is cut. */
const json = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, 0.1, '0.1', 'None', ''),
    fc.array(tie('any'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.oneof(name, fc.constantFrom(...Object.values(PERSON), '0', '')), tie('any')), {
        maxLength: 5,
      })
      .map((entries) => Object.fromEntries(entries)),
  ),
})).any;

/** Distinct names of letters. */
const names = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    `n${n}`.replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? ''),
  );

/** Returns an equal shape: keys and lists reversed, lists doubled, all values changed. */
function disguised(value: unknown): unknown {
  if (typeof value === 'string') return `${value}!`;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value))
    return [...(value as unknown[]), ...(value as unknown[])].reverse().map(disguised);
  if (value === null) return null;
  const entries = Object.entries(value as object).map(([key, one]): [string, unknown] => [
    key,
    disguised(one),
  ]);
  return Object.fromEntries(entries.reverse());
}

it('hides the contents of meta in the shape of an answer', () => {
  const withMeta = (meta: unknown) => shapeOf({ status: 'success', data: { id: 'a', meta } });
  const shape = withMeta({ Ada_Lovelace: 1 });
  expect(JSON.stringify(shape)).not.toContain('Ada');
  for (const meta of [{}, { b: [{}] }, 'text', null, [1]]) expect(withMeta(meta)).toEqual(shape);
});

describe('shapeOf', () => {
  it('reads a number of any length as a number', () => {
    expect(shapeOfBody('{"chiRef":12345678901234567}')).toEqual(shapeOfBody('{"chiRef":7}'));
  });

  it('is a JSON Schema of the structure, without a value', () => {
    const shape = shapeOf({
      status: 'success',
      data: { credits: [{ chiRef: 'a', valueInUSD: 1, email: 'x' }, {}] },
    });
    const closed = { additionalProperties: false };
    const text = { type: ['string'] };
    expect(shape).toEqual({
      type: ['object'],
      required: ['data', 'status'],
      ...closed,
      properties: {
        status: text,
        data: {
          type: ['object'],
          required: ['credits'],
          ...closed,
          properties: {
            credits: {
              type: ['array'],
              items: {
                type: ['object'],
                required: [],
                ...closed,
                properties: { chiRef: text, valueInUSD: { type: ['number'] }, email: text },
              },
            },
          },
        },
      },
    });
  });

  it.each<[string, string | null, Shape]>([
    ['a page', '<html>', { type: ['not JSON'] }],
    ['half a JSON text', '{"status":', { type: ['not JSON'] }],
    ['an empty body', '', { type: ['no body'] }],
    ['no body', null, { type: ['no body'] }],
    ['null', 'null', { type: ['null'] }],
    ['an empty list', '[]', { type: ['array'], items: false }],
    [
      'elements of several types',
      '[1,"1",null,true]',
      { type: ['array'], items: { type: ['boolean', 'null', 'number', 'string'] } },
    ],
  ])('knows %s', (_what, body, shape) => {
    expect(shapeOf(valueIn(body === null ? null : Buffer.from(body)))).toEqual(shape);
  });

  it('hides keys that are data, and gives any payouts map one shape (trap 5)', () => {
    const payouts = (count: number) => ({
      ...Object.fromEntries(Array.from({ length: count }, (_, index) => [index, { status: 'Sent' }])),
      issueID: 'issuer_2.5_1700000000000',
    });
    expect(hash(payouts(1))).toBe(hash(payouts(500)));
    expect(field(shapeOf(payouts(3)), 'issueID')).toEqual({ type: ['string'] });
    const people = shapeOf(Object.fromEntries(Object.values(PERSON).map((value) => [value, 1])));
    const others = { additionalProperties: { type: ['number'] } };
    expect(people).toEqual({ type: ['object'], properties: {}, required: [], ...others });
    const nicknames = shapeOf(Object.fromEntries(names(65).map((nickname) => [nickname, 1])));
    expect(nicknames).toEqual({ type: ['object'], required: [], ...others });
    expect(Object.keys(shapeOf(Object.fromEntries(names(64).map((one) => [one, 1]))))).toContain(
      'properties',
    );
  });

  it('ignores values, order and the number of elements', () => {
    fc.assert(fc.property(json, (value) => hash(value) === hash(disguised(value))));
  });

  it('detects an added field, and a changed type', () => {
    const types = [null, true, 1, 'text', [], {}];
    const record = fc.dictionary(name, json, { maxKeys: 8, noNullPrototype: true });
    fc.assert(
      fc.property(record, fc.constantFrom(...types), fc.constantFrom(...types), (fields, one, other) => {
        const hashes = [{ ...fields }, { ...fields, added: one }, { ...fields, added: other }].map(hash);
        expect(new Set(hashes).size).toBe(one === other ? 2 : 3);
        const inLists = [[fields], [fields, { ...fields, added: one }]].map((list) =>
          hash({ data: { list } }),
        );
        expect(new Set(inLists).size).toBe(2);
      }),
    );
  });

  it('never throws on any value', () => {
    fc.assert(fc.property(fc.anything(), (value) => hash(value).length === 64));
    fc.assert(fc.property(fc.uint8Array(), (body) => hash(valueIn(Buffer.from(body))).length === 64));
  });

  const many = names(100_000);
  it.each<[string, () => string]>([
    ['lists 100,000 deep', () => '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects 100,000 deep', () => '{"data":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
    ['a hundred thousand fields', () => `{${many.map((one) => `"${one}":1`).join()}}`],
    ['a hundred thousand records of one field each', () => `[${many.map((one) => `{"${one}":1}`).join()}]`],
    [
      'a hundred thousand keys that are no names',
      () => `{${many.map((one) => `"@${one}":["${one}"]`).join()}}`,
    ],
    [
      'fields of fields of fields, each record with others',
      () =>
        `[${many.map((_, n) => `{"${many[n % 60]}":{"${many[(n * 7) % 59]}":{"${many[(n * 11) % 61]}":${n}}}}`).join()}]`,
    ],
    [
      'a tree of 27,000 fields',
      () =>
        JSON.stringify(
          [30, 30, 30].reduce<unknown>(
            (leaf, count) => Object.fromEntries(names(count).map((one) => [one, leaf])),
            1,
          ),
        ),
    ],
  ])('stays small and complete for %s', (_what, text) => {
    const shape = shapeOfBody(text());
    expect(shape).toHaveProperty('type');
    expect(JSON.stringify(shape).length).toBeLessThan(50_000);
  });
});

describe('covers and merge', () => {
  const shape = json.map(shapeOf);

  it('merges shapes into one that covers both and nothing less, in any order and any number of times', () => {
    fc.assert(
      fc.property(shape, shape, shape, (a, b, c) => {
        const both = merge(a, b);
        expect([covers(both, a), covers(both, b)]).toEqual([true, true]);
        expect(merge(b, a)).toEqual(both);
        expect(merge(merge(a, b), c)).toEqual(merge(a, merge(b, c)));
        expect(covers(a, b)).toBe(fingerprintOf(both).equals(fingerprintOf(a)));
        if (covers(c, a) && covers(c, b)) expect(covers(c, both)).toBe(true);
      }),
    );
  });

  it('allows the values whose shapes it covers', () => {
    fc.assert(
      fc.property(json, json, json, (a, b, c) => {
        expect(allows(shapeOf(a), a)).toBe(true);
        expect(allows(shapeOf(a), b)).toBe(covers(shapeOf(a), shapeOf(b)));
        const both = merge(shapeOf(a), shapeOf(b));
        expect([allows(both, a), allows(both, b), allows(both, c)]).toEqual([
          true,
          true,
          covers(both, shapeOf(c)),
        ]);
      }),
    );
  });

  it('works with shapes that the database returned with other keys first', () => {
    fc.assert(
      fc.property(shape, (one) => {
        const back = JSON.parse(JSON.stringify(disguisedKeys(one))) as Shape;
        expect(fingerprintOf(back)).toEqual(fingerprintOf(one));
        expect(covers(back, one) && covers(one, back)).toBe(true);
      }),
    );
  });
  const disguisedKeys = (value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, one]) => [key, disguisedKeys(one)]),
        );

  const record = { chiRef: 'a', valueInUSD: 1, error: 'None', payouts: [{ status: 'Sent' }] };
  it.each<[string, object]>([
    ['a number where there was text, and text where there was a number', { ...record, valueInUSD: '1' }],
    ['null where there was text', { ...record, error: null }],
    ['one more field', { ...record, reference: '' }],
    ['one more field in a list', { ...record, payouts: [{ status: 'Sent', requestId: 'x' }] }],
    ['a lost field', { chiRef: 'a', valueInUSD: 1, payouts: [{ status: 'Sent' }] }],
    ['a map where there was a list', { ...record, payouts: { 0: { status: 'Sent' } } }],
  ])('detects a change: %s', (_what, changed) => {
    expect(allows(shapeOf(record), changed)).toBe(false);
  });

  it('ignores an empty list, and other values', () => {
    expect(allows(shapeOf(record), { ...record, payouts: [], chiRef: 'b' })).toBe(true);
  });

  /** Counts the answers with something new. */
  function newIn(answers: unknown[]): number {
    let known: Shape = false;
    const news = answers.filter((answer) => {
      const isNew = !allows(known, answer);
      known = merge(known, shapeOf(answer));
      return isNew;
    });
    return news.length;
  }

  it('reports records with any of ten optional fields at most twenty times, not per combination', () => {
    const record = fc.subarray(names(10)).map((some) => Object.fromEntries(some.map((one) => [one, 'x'])));
    const answers = fc.array(fc.array(record, { minLength: 1, maxLength: 3 }), {
      minLength: 100,
      maxLength: 300,
    });
    // A field: the first answer that has it, and the first that lacks it.
    fc.assert(
      fc.property(answers, (some) => newIn(some) <= 1 + 2 * 10),
      { numRuns: runs(20) },
    );
  });

  it('soon accepts an upstream that chooses names at random', () => {
    expect(newIn(names(1_000).map((one) => ({ data: { [one]: 1 } })))).toBe(65);
  });
});
