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
  ])('suggest for %s: %j', (name, meant) => {
    expect(nearestCountries(name)).toEqual(meant);
  });

  it('suggest all equally near names', () => {
    expect(unknownCountries(['Kenya', 'Austrlia'])).toMatchObject([
      { pointer: '/countries/1', suggestion: 'Australia or Austria' },
    ]);
  });

  it('suggest no more than ten names for a list', () => {
    const faults = unknownCountries(Array.from({ length: 300 }, () => 'Kenia'));
    expect(faults).toHaveLength(300);
    expect(faults.filter(({ suggestion }) => suggestion !== undefined)).toHaveLength(10);
  });

  it('include none that the upstream serves', () => {
    expect(unknownCountries([...AIRTIME_COUNTRIES])).toEqual([]);
  });
});
