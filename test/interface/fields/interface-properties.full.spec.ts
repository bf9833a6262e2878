import fc from 'fast-check';
import { withPayoutIds } from '../../../src/gateway/forwarding/forwarding.service';
import { OperationName } from '../../../src/operations/catalogue/catalogue';
import { runs } from '../../support/examples/runs';
import { DOCUMENTED, startInterface, TestInterface } from '../../support/http/interface';
import { startRules, TestRules } from '../../support/http/rules';

const FIELDS: Record<string, readonly string[]> = {
  '/send': ['credit', 'description'],
  '/payouts/airtime': ['airtimes'],
  '/payouts/mobile-money': ['momos'],
  '/payouts/credit': ['credits'],
  '/payouts/initiate-credit': ['credits', 'description'],
  '/account/transfer': ['receiver', 'amount', 'wallet'],
  '/account/delete-unpaid-transaction': ['chiRef'],
};
const ITEM_FIELDS = [
  'valueInUSD',
  'email',
  'twitter',
  'countryToSend',
  'phoneNumber',
  'reference',
  'momoCode',
];

/** Values so close to valid ones that some bodies pass, and so far that they test all rules. */
const anyText = fc.oneof(
  fc.constantFrom(
    'ada@example.com',
    '@ada',
    '+2348012345678',
    'Kenya',
    'MPS',
    '',
    ' ',
    '\0',
    '\ud800',
    '5',
    '__proto__',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const anyNumber = fc.oneof(
  fc.constantFrom(1, 0.1, 0, -1, 1e-6, 1e-7, 1e9, 1e300),
  fc.double({ noNaN: true }),
);
const anyValue = fc.oneof(anyText, anyNumber, fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>);
const rightValues: Record<string, unknown> = {
  valueInUSD: 1.25,
  email: 'ada@example.com',
  twitter: '',
  countryToSend: 'Kenya',
  phoneNumber: '+2348012345678',
  reference: '',
  momoCode: 'MPS',
  receiver: 'sub-account-1',
  amount: 3,
  wallet: 'airtime',
  chiRef: 'ref-1',
  description: 'Prizes',
};

/** An object with valid, invalid and missing values of these fields, and sometimes an unknown field. */
function anyObject(fields: readonly string[]): fc.Arbitrary<object> {
  const known = fields.map((name) =>
    fc.tuple(
      fc.constant(name),
      fc.oneof(
        { weight: 10, arbitrary: fc.constant(rightValues[name]) },
        { weight: 1, arbitrary: anyValue },
        { weight: 1, arbitrary: fc.constant(undefined) },
      ),
    ),
  );
  const unknown = fc.tuple(fc.constantFrom('__proto__', 'constructor', 'toString', 'colour', ''), anyValue);
  return fc
    .tuple(fc.tuple(...known), fc.option(unknown, { freq: 1 }))
    .map(([entries, strange]) => Object.fromEntries(strange ? [...entries, strange] : entries));
}

const itemFieldsOf: Record<string, readonly string[]> = {
  credit: ITEM_FIELDS.slice(0, 3),
  credits: ITEM_FIELDS.slice(0, 3),
  airtimes: ['countryToSend', 'phoneNumber', 'valueInUSD'],
  momos: ['countryToSend', 'phoneNumber', 'valueInUSD', 'reference', 'momoCode'],
};

/** A valid or invalid body of an operation. */
function anyBody(path: string): fc.Arbitrary<unknown> {
  const fields = FIELDS[path] ?? [];
  const [list] = fields;
  const items = list === undefined ? undefined : itemFieldsOf[list];
  if (items === undefined || list === undefined) return fc.oneof(anyObject(fields), anyValue);
  const anyList = fc.array(
    fc.oneof({ weight: 6, arbitrary: anyObject(items) }, { weight: 1, arbitrary: anyValue }),
    {
      minLength: 1,
      maxLength: 3,
    },
  );
  const rest = anyObject(fields.slice(1));
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.tuple(rest, anyList).map(([object, value]) => ({ ...object, [list]: value })),
    },
    { weight: 1, arbitrary: anyValue },
  );
}

/** Returns the known fields of a body, in the body's own order. */
function onlyKnown(path: string, body: object): unknown {
  const pick = (value: object, names: readonly string[]) =>
    Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
  return Object.fromEntries(
    Object.entries(pick(body, FIELDS[path] ?? [])).map(([name, value]) => {
      const items = itemFieldsOf[name];
      return [name, items ? (value as object[]).map((item) => pick(item, items)) : (value as unknown)];
    }),
  );
}

/** Returns the body with each amount as a number, also those given as text. */
function withNumbers(json: string): object {
  const isAmount = (name: string, value: unknown) =>
    /^(valueInUSD|amount)$/.test(name) && typeof value === 'string';
  const read = (name: string, value: unknown) => (isAmount(name, value) ? Number(value) : value);
  return JSON.parse(json, read) as object;
}

const WITH_BODY = DOCUMENTED.filter(({ body }) => body).map(({ path }) => path);

describe('arbitrary JSON of an app', () => {
  let rules: TestRules;

  beforeAll(async () => {
    rules = await startRules();
  });
  afterAll(() => rules.close());

  it.each(WITH_BODY)(
    'is rejected by POST %s with its faults, or accepted with exactly the known fields',
    async (path) => {
      let accepted = 0;
      await fc.assert(
        fc.asyncProperty(anyBody(path), async (body) => {
          const json = JSON.stringify(body);
          const { faults, input } = await rules.postRaw(path, json);
          if (faults) return expect(faults.length).toBeGreaterThan(0);
          const asNumbers = withNumbers(json);
          expect(JSON.stringify(input)).toBe(JSON.stringify(onlyKnown(path, asNumbers)));
          expect(input).toEqual(asNumbers); // without silently dropped fields
          accepted += 1;
        }),
        { numRuns: runs(120) },
      );
      expect(accepted).toBeGreaterThan(0);
    },
  );
});

describe('an arbitrary body over HTTP', () => {
  let api: TestInterface;

  beforeAll(async () => {
    api = await startInterface();
  });
  afterAll(() => api.close());

  it.each(WITH_BODY)('is forwarded by POST %s byte for byte if accepted, and otherwise not at all', (path) =>
    fc.assert(
      fc.asyncProperty(anyBody(path), async (body) => {
        const before = api.upstream.received.length;
        const response = await api.postRaw(path, JSON.stringify(body));
        expect([200, 400]).toContain(response.status);
        const arrived = api.upstream.received.slice(before).map((request) => request.body);
        if (response.status === 400) return expect(arrived).toEqual([]);
        const id = response.headers['x-call-id'] as string;
        const known = JSON.parse(JSON.stringify(onlyKnown(path, body as object))) as object;
        const sent = withPayoutIds(`POST ${path}` as OperationName, id, known);
        expect(arrived).toEqual([JSON.stringify(sent)]);
      }),
      { numRuns: runs(12) },
    ),
  );

  it('is rejected if it is not JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 50 }), fc.nat(60), async (bytes, at) => {
        const right = Buffer.from('{"chiRef":"ref-1"}');
        const broken = Buffer.concat([right.subarray(0, at), bytes, right.subarray(at)]);
        const response = await fetch(`${api.proxy.url}/api/v0.1/account/delete-unpaid-transaction`, {
          method: 'POST',
          headers: { 'X-API-Key': api.app, 'Content-Type': 'application/json' },
          body: broken,
        });
        expect([200, 400]).toContain(response.status);
      }),
      { numRuns: runs(50) },
    );
  });
});
