import fc from 'fast-check';
import { canonicalCountry, countryCodes, countryName, normalise } from './country-name';

describe('the names of countries', () => {
  it.each([
    ["Côte d'Ivoire", 'COTE D’IVOIRE', 'Cote d Ivoire', 'côte  d‘ivoire', 'Co\u0302te d\u02bcIvoire'],
    ['South Africa', ' south africa ', 'SOUTH  AFRICA', 'South\u00a0Africa'],
    ['São Tomé and Príncipe', 'Sao Tome and Principe', 'SAO TOME AND PRINCIPE'],
  ])('are compared without case and accents: %s', (...spellings) => {
    expect(new Set(spellings.map(normalise)).size).toBe(1);
  });

  it('differ for different countries', () => {
    const names = ['Niger', 'Nigeria', 'Guinea', 'Guinea-Bissau', 'Congo', 'مصر', '中国', '—', '– –'];
    expect(new Set(names.map(normalise)).size).toBe(names.length);
  });

  it('always have a stable comparable form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
        expect(normalise(name)).not.toBe('');
        expect(normalise(normalise(name))).toBe(normalise(name));
      }),
    );
  });
});

describe('the canonical form of a country', () => {
  it.each([
    ['KE', ['Kenya', 'kenya', 'Kenya ', 'KENYA', 'KE', 'ke', 'KEN', 'Republic of Kenya']],
    ['TZ', ['Tanzania', 'United Rep. of Tanzania', 'Tanzania, United Republic of', 'TZA', 'Tanzanie']],
    ['GM', ['Gambia', 'Gambia, The', 'The Gambia', 'Gambia (the)', 'GMB']],
    ['CD', ['Congo, Dem. Rep.', 'DR Congo', 'DRC', 'Congo (the Democratic Republic of the)', 'COD']],
    ['CG', ['Congo', 'Congo (the)', 'Congo, Rep.', 'COG']],
    ['SZ', ['Eswatini', 'Eswatini (Swaziland)', 'Swaziland', 'SWZ']],
    ['CI', ["Côte d'Ivoire", "Republic of Côte d'Ivoire", 'Cote d’Ivoire', 'Ivory Coast', 'CIV']],
    ['GN', ['Guinea', 'Guinée', 'GIN']],
    ['CM', ['Cameroon', 'Cameroun', 'CMR']],
  ])('is %s for each of %j', (code, spellings) => {
    expect(spellings.map(canonicalCountry)).toEqual(spellings.map(() => code));
  });

  it('is a key of letters and digits for an unknown name', () => {
    expect(['Narnia', ' NARNIA', 'Narnía'].map(canonicalCountry)).toEqual(['narnia', 'narnia', 'narnia']);
  });

  it('is stable, and has an English name', () => {
    for (const code of new Set(countryCodes().values())) {
      expect([code, canonicalCountry(code), typeof countryName(code)]).toEqual([code, code, 'string']);
    }
    expect(countryName('KE')).toBe('Kenya');
    expect(countryName('narnia')).toBeNull();
  });
});
