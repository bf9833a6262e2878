import { itemsOf } from '../../../operations/items/items';
import { Destinations } from './destinations';

const pointer = (index: number, field: string) => `/${index}/${field}`;
const airtime = (...countries: string[]) =>
  itemsOf('POST /payouts/airtime', { airtimes: countries.map((countryToSend) => ({ countryToSend })) });
const momo = (...pairs: [string, string][]) =>
  itemsOf('POST /payouts/mobile-money', {
    momos: pairs.map(([countryToSend, momoCode]) => ({ countryToSend, momoCode })),
  });

describe('airtime destinations', () => {
  const served = Destinations.airtime({ status: 'success', data: ['Nigeria', 'Kenya'] });

  it('include countries in any spelling', () => {
    expect(served?.faultsIn(airtime('Nigeria', 'KENYA', ' kénya '), pointer)).toEqual([]);
  });

  it('exclude all others, with one explanation', () => {
    expect(served?.faultsIn(airtime('France', 'Kenya', 'Spain', 'Niger'), pointer)).toEqual([
      { pointer: '/0/country', detail: 'is not served, and must be one of Kenya, Nigeria' },
      { pointer: '/2/country', detail: 'is not served, and must be a value listed at /0/country' },
      { pointer: '/3/country', detail: 'is not served, and must be a value listed at /0/country' },
    ]);
  });

  it.each([
    ['no envelope', null],
    ['no list', { data: { error: 'None' } }],
    ['an empty list', { data: [] }],
    ['a number', { data: ['Kenya', 7] }],
    ['an empty name', { data: ['Kenya', ' '] }],
    ['a too long name', { data: ['Kenya', 'x'.repeat(101)] }],
    ['objects', { data: [{ name: 'Kenya' }] }],
  ])('are unknown for an answer with %s', (_kind, envelope) => {
    expect(Destinations.airtime(envelope)).toBeUndefined();
  });
});

describe('mobile money destinations', () => {
  const served = Destinations.mobileMoney({
    data: [
      { name: 'M-Pesa', country: 'Kenya', code: 'MPS' },
      { name: 'M-Pesa', country: 'Tanzania', code: 'MPS', manual: true },
      { name: 'MTN', country: "Côte d'Ivoire", code: 'MTN' },
      { name: 'MTN', country: "Côte d'Ivoire", code: 'MTN' },
      { name: 'Vodafone Cash', country: 'Ghana', code: 'VDF' },
      { country: 'Ghana', code: 'ATL' },
    ],
  });

  it('compare each network within its country', () => {
    const pairs = momo(['Kenya', 'MPS'], ['tanzania', 'MPS'], ['COTE D’IVOIRE', 'MTN'], ['Ghana', 'ATL']);
    expect(served?.faultsIn(pairs, pointer)).toEqual([]);
  });

  it('list the codes of the country, or the countries', () => {
    const pairs = momo(
      ['Kenya', 'MTN'],
      ['Ghana', 'MPS'],
      ['Ghana', 'vdf'],
      ['Ghana', 'MPS'],
      ['Mali', 'MTN'],
    );
    expect(served?.faultsIn(pairs, pointer)).toEqual([
      { pointer: '/0/networkCode', detail: 'must be a mobile money network of Kenya: MPS (M-Pesa)' },
      {
        pointer: '/1/networkCode',
        detail: 'must be a mobile money network of Ghana: VDF (Vodafone Cash), ATL',
      },
      { pointer: '/2/networkCode', detail: 'is not served, and must be a value listed at /1/networkCode' },
      { pointer: '/3/networkCode', detail: 'is not served, and must be a value listed at /1/networkCode' },
      {
        pointer: '/4/country',
        detail: "is not served, and must be one of Côte d'Ivoire, Ghana, Kenya, Tanzania",
      },
    ]);
  });

  it.each([
    ['a row without a code', [{ name: 'M-Pesa', country: 'Kenya' }]],
    ['a row without a country', [{ name: 'M-Pesa', code: 'MPS' }]],
    ['a text', ['Kenya']],
    ['a null', [null]],
    ['a number as code', [{ country: 'Kenya', code: 7 }]],
    ['null as code', [{ country: 'Kenya', code: null, name: 'M-Pesa' }]],
  ])('are unknown for an answer with %s', (_kind, data) => {
    expect(Destinations.mobileMoney({ data })).toBeUndefined();
  });
});
