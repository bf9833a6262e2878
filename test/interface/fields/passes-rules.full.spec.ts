import { join } from 'node:path';
import { getMetadataStorage, IsDefined, IsIn, validateSync } from 'class-validator';
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { FaultList, toFaults } from '../../../src/http/validation/faults';
import { instantiate } from '../../../src/http/validation/instantiate';
import { findFaults, findFaultsInSteps, passesRules } from '../../../src/http/validation/passes-rules';
import { LocalAmount, UsdAmount } from '../../../src/http/validation/rules/money-rules';
import { ITEMS, ItemsOf, Text } from '../../../src/http/validation/rules/rules';
import { runAtOnce } from '../../../src/platform/cooperative-task';
import { runs } from '../../support/examples/runs';
import { sourceFiles } from '../../support/examples/source';

type Class = new () => object;

const rulesOf = (type: Class) => getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
const isValidToClassValidator = (instance: object) =>
  validateSync(instance, { forbidUnknownValues: false }).length === 0;

/** Returns the faults of the compiled rules. */
function faultsOf(instance: object) {
  const found = new FaultList();
  findFaults(instance, found);
  const inSteps = new FaultList();
  runAtOnce(findFaultsInSteps(instance, inSteps));
  expect(inSteps).toEqual(found);
  return found.faults;
}

/** All classes of bodies and queries with rules. */
const classes = sourceFiles('src')
  .filter(({ path }) => path.endsWith('.dto.ts'))
  .flatMap(({ path }) =>
    Object.values(jest.requireActual<Record<string, unknown>>(join('..', '..', '..', path))),
  )
  .filter((value): value is Class => typeof value === 'function' && /^class /.test(String(value)))
  .filter((type) => rulesOf(type).length > 0);

/** Values that are valid for some fields, and invalid for others. */
const WORDS = ['Kenya', '', '@ada', 'ada@example.com', '+254700000001', '100', 'app', '2026-11-20T08:00:00Z'];
const VALUES = [
  ...WORDS,
  0.25,
  1,
  500,
  1.1234567,
  true,
  null,
  '01a1fb98-53b1-7069-a17f-af1e8cacb634',
  ['pay'],
];

type FieldSchema = { example?: unknown; enum?: unknown[] } | undefined;

/** A field's example, or one of the values above, or any JSON. */
function valueOf(type: Class, name: string): fc.Arbitrary<unknown> {
  const prototype = type.prototype as object;
  const schema = Reflect.getMetadata('swagger/apiModelProperties', prototype, name) as FieldSchema;
  const example = schema?.example ?? schema?.enum?.[0];
  const items = Reflect.getMetadata(ITEMS, type) as ItemsOf | undefined;
  const right =
    name === items?.property ? fc.array(bodyOf(items.type()), { maxLength: 3 }) : fc.constant(example);
  return fc.oneof(
    { weight: 30, arbitrary: right },
    { weight: 2, arbitrary: fc.constantFrom(...VALUES) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}

function bodyOf(type: Class): fc.Arbitrary<object> {
  const names = [...new Set(rulesOf(type).map(({ propertyName }) => propertyName))];
  const fields = Object.fromEntries(names.map((name) => [name, valueOf(type, name)]));
  // An omitted field is absent instead of undefined.
  const asSent = (body: object) => JSON.parse(JSON.stringify(body)) as object;
  return fc.oneof(fc.record(fields).map(asSent), fc.record(fields, { requiredKeys: [] }).map(asSent));
}

describe('the compiled rules', () => {
  it('find the same faults as class-validator, in any class', () => {
    expect(classes.length).toBeGreaterThan(30);
    const counts = { valid: 0, faulty: 0 };
    for (const type of classes) {
      fc.assert(
        fc.property(bodyOf(type), (body) => {
          const { instance } = instantiate(body, type, { maxItems: 3, extras: new Set() });
          const valid = isValidToClassValidator(instance);
          expect(passesRules(instance)).toBe(valid);
          expect(faultsOf(instance)).toEqual(
            toFaults(validateSync(instance, { forbidUnknownValues: false })),
          );
          counts[valid ? 'valid' : 'faulty'] += 1;
        }),
        { numRuns: runs(60) },
      );
    }
    expect(counts.valid).toBeGreaterThan(200);
    expect(counts.faulty).toBeGreaterThan(200);
  });

  it('delegate unknown rules to class-validator', () => {
    class Defined {
      @IsDefined()
      name = 'x';
    }
    class OfEach {
      @IsIn(['x'], { each: true })
      names = ['x'];
    }
    for (const instance of [new Defined(), new OfEach()]) {
      expect(isValidToClassValidator(instance)).toBe(true);
      expect(passesRules(instance)).toBe(false);
      expect(faultsOf(Object.assign(instance, { name: undefined, names: ['y'] }))).toHaveLength(1);
    }
    class Known {
      @IsIn(['x'])
      @Text({ max: 1, description: 'A name.' })
      name = 'x';
    }
    expect(passesRules(new Known())).toBe(true);
    expect(passesRules(Object.assign(new Known(), { name: 'y' }))).toBe(false);
  });
});

describe('the decimals of an amount', () => {
  class Amounts {
    @UsdAmount({ description: 'In US dollars.' })
    usd!: number;

    @LocalAmount('In another currency.')
    local!: number;
  }
  const taken = (usd: number, local: number) => {
    const wrong = validateSync(Object.assign(new Amounts(), { usd, local })).map(({ property }) => property);
    return { usd: !wrong.includes('usd'), local: !wrong.includes('local') };
  };
  const decimalsOf = (value: number) => new Decimal(value).decimalPlaces();

  it('are counted in its original notation', () => {
    const places = fc.tuple(fc.nat({ max: 999_999_999_998 }), fc.nat({ max: 9 }));
    const numbers = places.map(([digits, decimals]) => Number(`${digits + 1}e-${decimals}`));
    const any = fc.double({ min: Number.MIN_VALUE, max: 999_999_999, noNaN: true });
    fc.assert(
      fc.property(fc.oneof(numbers, any), (value) => {
        expect(taken(value, value)).toEqual({
          usd: value <= 999_999_999 && decimalsOf(value) <= 6,
          local: decimalsOf(value) <= 3,
        });
      }),
      { numRuns: runs(2_000) },
    );
  });

  it.each([0.1, 0.3, 1.005, 4.35, 0.000001, 123456789.123456, 999999998.999999, 1e-6, 8.41])(
    'fit for %d',
    (value) => expect(taken(value, 1).usd).toBe(true),
  );

  it.each([1e-7, 0.1 + 0.2, 0.0000001, 1.0000001, 5e-324])('do not fit for %d', (value) =>
    expect(taken(value, 1).usd).toBe(false),
  );
});
