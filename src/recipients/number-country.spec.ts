import fc from 'fast-check';
import { Examples, getCountries, getExampleNumber } from 'libphonenumber-js/max';
import { countryOfName } from './country-name';
import { countriesOfNumber } from './number-country';

const examples = jest.requireActual<Examples>('libphonenumber-js/mobile/examples');

describe('the country of a number', () => {
  it.each([
    ['+254712345678', 'KE'],
    ['+2348012345678', 'NG'],
    ['+2250708091011', 'CI'],
    ['+243812345678', 'CD'],
    ['+242061234567', 'CG'],
    ['+12025550123', 'US'],
    ['+14165550123', 'CA'],
    ['+18765551234', 'JM'],
    ['+79161234567', 'RU'],
    ['+77012345678', 'KZ'],
    ['+447400123456', 'GB'],
  ])('of %s is %s, even for a shared calling code', (phone, code) =>
    expect(countriesOfNumber(phone)).toEqual([code]),
  );

  it('can be each country of a shared calling code, for an unknown area', () => {
    expect(countriesOfNumber('+15551234567')).toEqual(expect.arrayContaining(['US', 'CA']));
    expect(countriesOfNumber('+15551234567')).not.toContain('KE');
  });

  it.each(['+870123456789', '+999123456', '+88213123456', '+80012345678'])('does not exist for %s', (phone) =>
    expect(countriesOfNumber(phone)).toEqual([]),
  );

  it('is known for mobile numbers of every country, except territories with a shared plan', () => {
    const unknown = getCountries().filter((code) => {
      const number = getExampleNumber(code, examples)?.number;
      return number !== undefined && !countriesOfNumber(number).includes(code);
    });
    expect(unknown).toEqual(['AX', 'BL', 'CC', 'CX', 'EH', 'IM', 'MF', 'SJ', 'VA']);
  });

  it('accepts any text without an error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\+[1-9]\d{6,14}$/)), (text) => {
        expect(Array.isArray(countriesOfNumber(text))).toBe(true);
      }),
    );
  });
});

describe('the code of a country', () => {
  it.each([
    ['Kenya', 'KE'],
    ['NIGERIA', 'NG'],
    ["Cote d'Ivoire", 'CI'],
    ['Ivory Coast', 'CI'],
    ['Democratic Republic of the Congo', 'CD'],
    ['Congo - Kinshasa', 'CD'],
    ['Congo', 'CG'],
    ['Tanzania, United Republic of', 'TZ'],
    ['Swaziland', 'SZ'],
    ['Eswatini', 'SZ'],
    ['Sao Tome and Principe', 'ST'],
    ['Saint Lucia', 'LC'],
    ['United States of America', 'US'],
    ['UK', 'GB'],
    ['ke', 'KE'],
  ])('of %s is %s', (name, code) => expect(countryOfName(name)).toBe(code));

  it.each(['Atlantis', '', '—', 'constructor'])('is not known for %j', (name) =>
    expect(countryOfName(name)).toBeUndefined(),
  );

  it('is found by its English name for every country', () => {
    const names = new Intl.DisplayNames('en', { type: 'region' });
    expect(getCountries().filter((code) => countryOfName(names.of(code) ?? '') !== code)).toEqual([]);
  });
});
