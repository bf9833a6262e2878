import fc from 'fast-check';
import { distinctNames, JSON_VALUE, NAME, PERSON } from '../../../../test/support/examples/any-json';
import { fingerprintOf, Shape, shapeOf, valueIn } from './shape';

const shapeOfBody = (body: string) => shapeOf(valueIn(Buffer.from(body)));
const hash = (value: unknown) => fingerprintOf(shapeOf(value)).toString('hex');
const field = (shape: Shape, ...path: string[]): Shape =>
  path.reduce<Shape>((at, name) => (typeof at === 'object' && at.properties?.[name]) || false, shape);

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
  ])('knows %s', (_case, body, shape) => {
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
    const nicknames = shapeOf(Object.fromEntries(distinctNames(65).map((nickname) => [nickname, 1])));
    expect(nicknames).toEqual({ type: ['object'], required: [], ...others });
    expect(Object.keys(shapeOf(Object.fromEntries(distinctNames(64).map((one) => [one, 1]))))).toContain(
      'properties',
    );
  });

  it('ignores values, order and the number of elements', () => {
    fc.assert(fc.property(JSON_VALUE, (value) => hash(value) === hash(disguised(value))));
  });

  it('detects an added field, and a changed type', () => {
    const types = [null, true, 1, 'text', [], {}];
    const record = fc.dictionary(NAME, JSON_VALUE, { maxKeys: 8, noNullPrototype: true });
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

  const many = distinctNames(100_000);
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
      () => {
        const nested = (n: number) => `{"${many[(n * 7) % 59]}":{"${many[(n * 11) % 61]}":${n}}}`;
        return `[${many.map((_, n) => `{"${many[n % 60]}":${nested(n)}}`).join()}]`;
      },
    ],
    [
      'a tree of 27,000 fields',
      () =>
        JSON.stringify(
          [30, 30, 30].reduce<unknown>(
            (leaf, count) => Object.fromEntries(distinctNames(count).map((one) => [one, leaf])),
            1,
          ),
        ),
    ],
  ])('stays small and complete for %s', (_case, text) => {
    const shape = shapeOfBody(text());
    expect(shape).toHaveProperty('type');
    expect(JSON.stringify(shape).length).toBeLessThan(50_000);
  });
});
