import fc from 'fast-check';
import { UnitName } from './unit-name';

const points = new UnitName('points');
const response = (text: string) => points.inResponse(Buffer.from(text)).toString();
const request = (body: object) => points.inRequest(Buffer.from(JSON.stringify(body)))?.toString();

describe('UnitName', () => {
  it.each([
    ['/api/v0.1/payouts/credit', '/api/v0.1/payouts/points'],
    ['/api/v0.1/payouts/initiate-credit', '/api/v0.1/payouts/initiate-points'],
    ['/api/v0.1/payouts/airtime', '/api/v0.1/payouts/airtime'],
    ['/api/v0.1/account/transaction?id=/payouts/credit', '/api/v0.1/account/transaction?id=/payouts/credit'],
  ])('turns the path %s into %s', (ours, theirs) => expect(points.inPath(ours)).toBe(theirs));

  it("renames only the request's own fields", () => {
    expect(request({ credit: [{ email: 'credit@example.com' }], description: 'credit' })).toBe(
      '{"points":[{"email":"credit@example.com"}],"description":"credit"}',
    );
    expect(request({ credits: [{ meta: { credit: 1 } }] })).toBe('{"pointss":[{"meta":{"credit":1}}]}');
    expect(points.inRequest(null)).toBeNull();
  });

  it('renames the fields of an answer at any depth, and keeps all other bytes', () => {
    expect(response('{"data":{"pointss":[{"points" : 1.50, "type":"points"}]},"é":"\\"points\\":"}')).toBe(
      '{"data":{"credits":[{"credit" : 1.50, "type":"points"}]},"é":"\\"points\\":"}',
    );
    expect(response('{"\\u0070oints":1}')).toBe('{"credit":1}');
    expect(response('{"points_":1,"Points":2,"apoints":3}')).toBe('{"points_":1,"Points":2,"apoints":3}');
  });

  it.each(['<p>"points": 1</p>', '', 'points', '"points"'])(
    'keeps a value that is no object or list: %s',
    (text) => {
      expect(response(text)).toBe(text);
    },
  );

  it('keeps the contents of free-form fields', () => {
    expect(
      response('{"meta":{"points":1,"a":[{"points":2}]},"points":3,"b":[{"meta":"x","points":4}]}'),
    ).toBe('{"meta":{"points":1,"a":[{"points":2}]},"credit":3,"b":[{"meta":"x","credit":4}]}');
    expect(response('{"a":{"meta":[{"points":1}]},"points":[{"meta":{}},{"points":2}]}')).toBe(
      '{"a":{"meta":[{"points":1}]},"credit":[{"meta":{}},{"credit":2}]}',
    );
  });

  it('takes time in proportion to the answer, even a broken one', () => {
    const broken = '{"a":"' + '\\"'.repeat(2_000_000); // a quadratic search would take hours
    expect(response(broken)).toBe(broken);
  });

  it('restores each answer from the provider’s word', () => {
    const theirs = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value).replaceAll('"credit":', '"points":').replaceAll('"credits":', '"pointss":'),
      );
    const names = fc.constantFrom('credit', 'credits', 'data', 'a"b', 'ü');
    const answers = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(1, 'x', 'credit', null, '"points":', true),
        fc.array(tie('value')),
        fc.dictionary(names, tie('value')),
      ),
    })).value;
    fc.assert(
      fc.property(fc.dictionary(names, answers), (answer) => {
        expect(JSON.parse(response(JSON.stringify(theirs(answer))))).toEqual(answer);
      }),
    );
  });

  it('changes nothing if the provider’s word is the interface’s', () => {
    const same = new UnitName('credit');
    const bytes = Buffer.from('{"credit":1}');
    expect(same.inPath('/api/v0.1/payouts/credit')).toBe('/api/v0.1/payouts/credit');
    expect(same.inRequest(bytes)).toBe(bytes);
    expect(same.inResponse(bytes)).toBe(bytes);
  });
});
