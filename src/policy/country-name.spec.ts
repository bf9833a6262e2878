import fc from 'fast-check';
import { normalise } from './country-name';

describe('the names of countries', () => {
  it.each([
    ["Côte d'Ivoire", 'COTE D’IVOIRE', 'Cote d Ivoire', 'côte  d‘ivoire', 'Co\u0302te d\u02bcIvoire'],
    ['South Africa', ' south africa ', 'SOUTH  AFRICA', 'South\u00a0Africa'],
    ['São Tomé and Príncipe', 'Sao Tome and Principe', 'SAO TOME AND PRINCIPE'],
  ])('are compared without case and accents: %s', (...spellings) => {
    expect(new Set(spellings.map(normalise)).size).toBe(1);
  });

  it('stay different for different countries', () => {
    const names = ['Niger', 'Nigeria', 'Guinea', 'Guinea-Bissau', 'Congo', 'مصر', '中国', '—', '– –'];
    expect(new Set(names.map(normalise)).size).toBe(names.length);
  });

  it('always have a form to compare, which does not change again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
        expect(normalise(name)).not.toBe('');
        expect(normalise(normalise(name))).toBe(normalise(name));
      }),
    );
  });
});
