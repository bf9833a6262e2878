import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { looksLikePhone, spellsOneOf } from './phone-numbers';

/** Calling codes of countries that are paid to, with national numbers as they are given out there. */
const COUNTRIES: [code: string, national: RegExp][] = [
  ['254', /^[71]\d{8}$/],
  ['234', /^[789][01]\d{8}$/],
  ['233', /^[25]\d{8}$/],
  ['256', /^7\d{8}$/],
  ['255', /^[67]\d{8}$/],
  ['27', /^[678]\d{8}$/],
  ['225', /^0[157]\d{8}$/],
  ['221', /^7\d{8}$/],
  ['237', /^6\d{8}$/],
  ['20', /^1[0125]\d{8}$/],
  ['44', /^7\d{9}$/],
  ['1', /^[2-9]\d{2}[2-9]\d{6}$/],
];

interface Phone {
  code: string;
  national: string;
}

const phone = fc
  .constantFrom(...COUNTRIES)
  .chain(([code, national]) =>
    fc.stringMatching(national).map((digits): Phone => ({ code, national: digits })),
  )
  .filter(({ code, national }) => !/^20[23]/.test(code + national));

const written = ({ code, national }: Phone) => `+${code}${national}`;

/** Returns the spellings of a number without its +. */
const spellings = ({ code, national }: Phone) => [
  `${code}${national}`,
  `00${code}${national}`,
  national.startsWith('0') ? national : `0${national}`,
];

/** Writes digits in groups of two to four. */
const grouped = (digits: string) =>
  fc
    .tuple(fc.constantFrom('-', '.', ' ', '/', '_', ') '), fc.integer({ min: 2, max: 4 }))
    .map(([sign, size]) => {
      const groups = digits.match(new RegExp(`\\d{1,${size}}`, 'g')) ?? [];
      return groups.join(sign);
    });
const spelled = phone.chain((one) =>
  fc
    .constantFrom(...spellings(one))
    .chain((digits) => fc.oneof(fc.constant(digits), grouped(digits)).map((text) => ({ one, text }))),
);

/** Text around a number. */
const around = fc.constantFrom(
  ['', ''],
  ['for-', ''],
  ['airtime:', ':1'],
  ['user=', '/x'],
  ['pay_', '_again'],
  ['tel', ''],
);

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ulid = fc
  .tuple(fc.nat(7), fc.array(fc.constantFrom(...ALPHABET), { minLength: 25, maxLength: 25 }))
  .map(([first, rest]) => `${first}${rest.join('')}`)
  .filter((id) => /[A-Z]/.test(id));
const hash = fc
  .tuple(fc.constantFrom('sha256', 'sha1', 'md5'), fc.string())
  .map(([kind, text]) => createHash(kind).update(text).digest('hex'));
const id = fc.oneof(
  fc.uuid(),
  ulid,
  hash,
  fc
    .uuid()
    .map((uuid) => uuid.replaceAll('-', ''))
    .filter((hex) => /[a-f]/.test(hex)),
);

describe('a phone number without its +', () => {
  it('is recognized in every spelling, whatever surrounds it', () => {
    fc.assert(
      fc.property(spelled, around, ({ text }, [before = '', after = '']) => {
        expect([text, looksLikePhone(`${before}${text}${after}`)]).toEqual([text, true]);
      }),
    );
  });

  it.each([
    '254712345678',
    '0712345678',
    '00254712345678',
    '254-712-345-678',
    '0712.345.678',
    '(0)712 345 678',
    '2348012345678',
    '08012345678',
    'user254712345678',
    'ada:0712345678',
    'order-17-0712345678',
    '12025550123',
    '0044-7911-123456',
  ])('can be %s', (text) => expect(looksLikePhone(text)).toBe(true));

  it('cannot be an ID that a machine made', () => {
    fc.assert(
      fc.property(id, around, (made, [before = '', after = '']) => {
        const text = before === 'tel' ? made : `${before}${made}${after}`;
        expect([text, looksLikePhone(text)]).toEqual([text, false]);
      }),
    );
  });

  it('cannot be a timestamp', () => {
    const epoch = fc.integer({ min: 1_500_000_000_000, max: 1_999_999_999_999 });
    fc.assert(
      fc.property(epoch, (ms) => {
        const iso = new Date(ms).toISOString();
        const stamps = [ms, Math.floor(ms / 1_000), ms * 1_000].map(String);
        for (const text of stamps) expect([text, looksLikePhone(text)]).toEqual([text, false]);
        if (iso >= '2020') expect([iso, looksLikePhone(iso.slice(0, 10))]).toEqual([iso, false]);
      }),
    );
  });

  it.each([
    '',
    'ada',
    'clerk-17',
    'payroll-2026-11-0042',
    '20261122',
    '2026-11-22T08:00:00Z',
    '20261122-000417',
    'order-4711',
    '192.168.100.200',
    '212.123.123.123',
    'INV-0000123456',
    '00000042',
    'build-1.2.345',
    '4111-1111-1111-1111',
    'a254712345678bcd',
    '254712345678abc',
    '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    '4bf92f3577b34da6a3ce929d0e0e4736',
  ])('cannot be %s', (text) => expect(looksLikePhone(text)).toBe(false));
});

describe('one of several numbers', () => {
  it('is recognized in every spelling', () => {
    fc.assert(
      fc.property(spelled, phone, around, ({ one, text }, other, [before = '', after = '']) => {
        expect(spellsOneOf(`${before}${text}${after}`, [written(other), written(one)])).toBe(true);
      }),
    );
    const any = fc.stringMatching(/^\+[1-9]\d{6,14}$/);
    fc.assert(fc.property(any, (number) => spellsOneOf(`k-${number.slice(1)}`, [number])));
    expect(spellsOneOf('x(254)712-345678', ['+254712345678'])).toBe(true);
    expect(spellsOneOf('k-712345678', ['+254712345678'])).toBe(true);
  });

  it('does not match other numbers or IDs that a machine made', () => {
    expect(spellsOneOf('order-0712345679', ['+254712345678'])).toBe(false);
    expect(spellsOneOf('payroll-2026-11-0042', ['+254712345678', '+12025550123'])).toBe(false);
    expect(spellsOneOf('1763632800000', ['+254712345678', '+17636328001'])).toBe(false);
    fc.assert(
      fc.property(id, fc.stringMatching(/^\+[1-9]\d{6,14}$/), (made, number) => {
        expect([made, number, spellsOneOf(made, [number])]).toEqual([made, number, false]);
      }),
    );
  });
});
