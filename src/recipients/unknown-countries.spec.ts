import { AIRTIME_COUNTRIES } from '../sandbox/countries/countries';
import { nearestCountries, unknownCountries } from './unknown-countries';

describe('unknown countries', () => {
  it.each([
    ['Kenia', ['Kenya']],
    ['Nigerria', ['Nigeria']],
    ['Ivory Cost', ['Côte d’Ivoire']],
    ['United Rep of Tanzanya', ['Tanzania']],
    ['Austrlia', ['Australia', 'Austria']],
    ['Atlantis', []],
    ['Nairobi', []],
    ['XQ', []],
    ['x'.repeat(100), []],
  ])('is %s, near to %j', (name, meant) => {
    expect(nearestCountries(name)).toEqual(meant);
  });

  it('suggests all names that are equally near', () => {
    expect(unknownCountries(['Kenya', 'Austrlia'])).toMatchObject([
      { pointer: '/countries/1', suggestion: 'Australia or Austria' },
    ]);
  });

  it('suggests no more than ten names for a list', () => {
    const faults = unknownCountries(Array.from({ length: 300 }, () => 'Kenia'));
    expect(faults).toHaveLength(300);
    expect(faults.filter(({ suggestion }) => suggestion !== undefined)).toHaveLength(10);
  });

  it('are none of those that the upstream serves', () => {
    expect(unknownCountries([...AIRTIME_COUNTRIES])).toEqual([]);
  });
});
