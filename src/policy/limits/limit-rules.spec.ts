import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { NO_ITEM } from '../../../test/support/payments/no-item';
import { Limits, NO_LIMITS } from '../../access/clients/limits/limits';
import { Item } from '../../operations/items/item';
import { brokenLimits, needsApproval } from './limit-rules';

const usd = (amount: Decimal.Value) => new Decimal(amount);
const pointerOf = (place: number, field: string) => `/items/${place}/${field}`;
const faultsOf = (limits: Partial<Limits>, items: Item[], effect: 'pay' | 'write' = 'pay') =>
  brokenLimits({ ...NO_LIMITS, allowForeignNumbers: true, ...limits }, effect === 'pay', items, pointerOf)[0];

function item(amount: Decimal.Value | null, country: string | null = null): Item {
  const amountUsd = amount === null ? null : usd(amount);
  return { ...NO_ITEM, recipientField: 'phone', phone: '+254712345678', amountUsd, country };
}

/** Amounts of up to six decimals, as integer millionths: exact without decimals. */
const micros = fc.integer({ min: 1, max: 999_999_999_999_999 });
const fromMicros = (step: bigint | number) => usd(step.toString()).div(1_000_000);

describe('per-call limits', () => {
  it('accept everything for a client without limits', () => {
    expect(faultsOf({}, [item(999_999_999, 'Kenya'), item(null, 'Ghana')])).toBeUndefined();
  });

  it('count items', () => {
    expect(faultsOf({ maxItems: 2 }, [item(1), item(1)])).toBeUndefined();
    expect(faultsOf({ maxItems: 2 }, [item(1), item(1), item(1)])).toMatchObject({
      code: 'too_many_items',
      status: 403,
      faults: [],
      message: 'This request has 3 items, and your client may send at most 2 in one call. Nothing was sent.',
    });
  });

  it('name the countries once, whatever their spelling', () => {
    const countries = ["Côte d'Ivoire", 'Kenya'];
    expect(faultsOf({ countries }, [item(1, 'COTE D’IVOIRE'), item(1, 'kenya'), item(1)])).toBeUndefined();
    expect(
      faultsOf({ countries }, [item(1, 'Ghana'), item(1, 'Kenya'), item(1, 'Niger')], 'write'),
    ).toMatchObject({
      code: 'country_not_allowed',
      status: 403,
      faults: [
        {
          pointer: '/items/0/country',
          detail: "must be a country that your client may pay to: Côte d'Ivoire, Kenya",
        },
        {
          pointer: '/items/2/country',
          detail: 'must be a country that your client may pay to, as listed at /items/0/country',
        },
      ],
    });
  });

  it.each<[text: string, countries: string[], country: string | null, phone: string | null]>([
    ['another country, whatever the item states', ['Kenya'], 'Kenya', '+2348012345678'],
    [
      'a country that shares its calling code with an allowed one',
      ['United States'],
      'United States',
      '+18765551234',
    ],
    ['no country', ['Kenya'], 'Kenya', '+870123456789'],
    ['another country, without a stated one', ['Kenya', 'Ghana'], null, '+2348012345678'],
    ['another country, next to an unknown name', ['Kenya', 'Atlantis'], 'Kenya', '+2348012345678'],
  ])('refuse a number of %s', (_text, countries, country, phone) => {
    expect(faultsOf({ countries }, [{ ...item(1, country), phone }])).toMatchObject({
      code: 'country_not_allowed',
      status: 403,
      faults: [
        {
          pointer: '/items/0/phone',
          detail: `must be a number of a country that your client may pay to: ${countries.join(', ')}`,
        },
      ],
    });
  });

  it.each<[country: string, phone: string, detail: string]>([
    ['Kenya', '+2348012345678', 'is a number of Nigeria, and the item states Kenya'],
    ['united states', '+18765551234', 'is a number of Jamaica, and the item states United States'],
    ['KEN', '+870123456789', 'is a number of no country, and the item states Kenya'],
  ])('refuse a number that does not match %s, unless the client allows it', (country, phone, detail) => {
    const items = [{ ...item(1, country), phone }];
    expect(faultsOf({ allowForeignNumbers: false }, items)).toMatchObject({
      code: 'foreign_number',
      status: 400,
      faults: [{ pointer: '/items/0/phone', detail }],
    });
    expect(faultsOf({}, items)).toBeUndefined();
    const others = [
      { ...item(1, country), phone, recipientField: null },
      item(1, 'Kenya'),
      item(1, 'Atlantis'),
      item(1),
    ];
    expect(faultsOf({ allowForeignNumbers: false }, others)).toBeUndefined();
  });

  it.each<[text: string, countries: string[], country: string | null, phone: string | null]>([
    ['any country for a client without a list', [], 'Kenya', '+2348012345678'],
    ['an allowed country by another name', ['Ivory Coast'], 'ivory coast', '+2250708091011'],
    ['an allowed country, without a stated one', ['Kenya'], null, '+254712345678'],
    ['an allowed country, next to another', ['Kenya', 'Nigeria'], 'Kenya', '+2348012345678'],
    ['a country with an unknown, allowed name', ['Atlantis'], 'ATLANTIS', '+2348012345678'],
    ['a country that may have an unknown name', ['Kenya', 'Atlantis'], null, '+2348012345678'],
    ['no country, because it is missing', ['Kenya'], 'Kenya', null],
  ])('accept a number of %s', (_text, countries, country, phone) =>
    expect(faultsOf({ countries }, [{ ...item(1, country), phone }])).toBeUndefined(),
  );

  it('name each wrong country and number, and the allowed countries once', () => {
    const items = ['+2348012345678', '+254712345678', '+233241234567'].map((phone) => ({
      ...item(1, 'Kenya'),
      phone,
    }));
    expect(faultsOf({ countries: ['Kenya'] }, [...items, item(1, 'Ghana')])?.faults).toEqual([
      {
        pointer: '/items/0/phone',
        detail: 'must be a number of a country that your client may pay to: Kenya',
      },
      {
        pointer: '/items/2/phone',
        detail: 'must be a number of a country that your client may pay to, as listed at /items/0/phone',
      },
      {
        pointer: '/items/3/country',
        detail: 'must be a country that your client may pay to, as listed at /items/0/phone',
      },
    ]);
  });

  it('ignore items that pay no recipient', () => {
    expect(
      faultsOf({ countries: ['Kenya'] }, [{ ...item(null, 'Ghana'), recipientField: null }]),
    ).toBeUndefined();
  });

  it.each<keyof Limits>(['dailyCapUsd', 'monthlyCapUsd', 'maxItemUsd', 'maxCallUsd', 'approvalOverUsd'])(
    'require each paid amount if there is a %s',
    (limit) => {
      const items = [item(null), item(1), item(null)];
      expect(faultsOf({ [limit]: usd(100) }, items)).toMatchObject({
        code: 'amount_required',
        status: 400,
        faults: [{ pointer: '/items/0/amount' }, { pointer: '/items/2/amount' }],
      });
      expect(faultsOf({ [limit]: usd(100) }, items, 'write')).toBeUndefined();
    },
  );

  it('require no amounts for other operations', () => {
    const others = { maxItems: 9, requestsPerMinute: 1, countries: ['Kenya'], requireIdempotencyKey: true };
    expect(faultsOf(others, [item(null, 'Kenya')])).toBeUndefined();
  });

  it.each(['pay', 'write'] as const)('apply to each item and to the sum of operations that %s', (effect) => {
    const limits = { maxItemUsd: usd(5), maxCallUsd: usd('8.5') };
    expect(faultsOf(limits, [item(5), item('3.5')], effect)).toBeUndefined();
    expect(faultsOf(limits, [item('5.000001'), item(1), item(7)], effect)).toMatchObject({
      code: 'cap_exceeded',
      status: 403,
      faults: [
        {
          pointer: '/items/0/amount',
          detail: 'is 5.000001 US dollars, and must be at most 5 for one item',
        },
        { pointer: '/items/2/amount', detail: 'is 7 US dollars, and must be at most 5 for one item' },
        {
          pointer: '',
          detail: 'the total is 13.000001 US dollars, and must be at most 8.5 for one call of your client',
        },
      ],
    });
  });

  it('are exact on sums beyond the precision of a double', () => {
    const items = [item('0.000001'), ...Array.from({ length: 20 }, () => item(999_999_999))];
    expect(faultsOf({ maxCallUsd: usd('19999999980.000001') }, items)).toBeUndefined();
    expect(faultsOf({ maxCallUsd: usd('19999999980') }, items)?.code).toBe('cap_exceeded');
  });

  it('are exact to the last digit for any amounts', () => {
    fc.assert(
      fc.property(
        fc.array(micros, { minLength: 1, maxLength: 50 }),
        fc.integer({ min: -2, max: 2 }),
        (steps, off) => {
          const total = steps.reduce((sum, step) => sum + BigInt(step), 0n);
          const cap = total + BigInt(off);
          const items = steps.map((step) => item(fromMicros(step)));
          const code = faultsOf({ maxCallUsd: fromMicros(cap) }, items)?.code;
          expect(code).toBe(total > cap ? 'cap_exceeded' : undefined);
        },
      ),
    );
  });

  it('list exactly the items over a limit', () => {
    fc.assert(
      fc.property(fc.array(fc.option(micros), { maxLength: 50 }), micros, (steps, cap) => {
        const items = steps.map((step) => item(step === null ? null : fromMicros(step)));
        const over = steps.flatMap((step, place) =>
          step !== null && step > cap ? [pointerOf(place, 'amount')] : [],
        );
        const faults = faultsOf({ maxItemUsd: fromMicros(cap) }, items, 'write')?.faults ?? [];
        expect(faults.map(({ pointer }) => pointer)).toEqual(over);
      }),
    );
  });

  it('find exactly the items to another country', () => {
    const names = ['Kenya', 'KENYA', 'Ghana', 'Niger', 'Nigeria', null];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...names)), (countries) => {
        const elsewhere = countries.flatMap((name, place) =>
          name === null || name.toLowerCase() === 'kenya' ? [] : [pointerOf(place, 'country')],
        );
        const items = countries.map((name) => item(1, name));
        const faults = faultsOf({ countries: ['Kenya'] }, items)?.faults ?? [];
        expect(faults.map(({ pointer }) => pointer)).toEqual(elsewhere);
      }),
    );
  });
});

describe('an approval', () => {
  it.each([
    ['49.999999', false],
    ['50', false],
    ['50.000001', true],
  ])('is required over 50 for %s: %s', (total, needed) =>
    expect(needsApproval({ ...NO_LIMITS, approvalOverUsd: usd(50) }, usd(total))).toBe(needed),
  );

  it('is required for any payment over 0, and not without a threshold or an amount', () => {
    expect(needsApproval({ ...NO_LIMITS, approvalOverUsd: usd(0) }, usd('0.000001'))).toBe(true);
    expect(needsApproval(NO_LIMITS, usd(999_999_999))).toBe(false);
    expect(needsApproval({ ...NO_LIMITS, approvalOverUsd: usd(0) }, null)).toBe(false);
  });
});
