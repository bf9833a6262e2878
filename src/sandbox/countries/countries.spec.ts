import Decimal from 'decimal.js';
import { inLocalCurrency } from './countries';

describe('inLocalCurrency', () => {
  it.each([
    ['15', 'Kenya', 'KES 1942.5126'],
    ['15', ' KENYA ', 'KES 1942.5126'],
    ['0.000001', 'Ghana', 'GHS 0'],
    ['1', "Co\u0302te d'Ivoire", 'XOF 601.25'],
    ['1000000000', 'Nigeria', 'NGN 1538750000000'],
    ['2.5', 'Atlantis', 'USD 2.5'],
    ['2.5', 'constructor', 'USD 2.5'],
    ['2.5', '', 'USD 2.5'],
  ])('writes %s USD to %p as %s', (usd, country, text) => {
    expect(inLocalCurrency(new Decimal(usd), country)).toBe(text);
  });
});
