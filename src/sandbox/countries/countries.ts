/**
 * Returns a country's name for comparisons. Case, accents, the kind of apostrophe and spaces around it do not matter.
 */
export function countryKey(name: string): string {
  return name
    .trim()
    .normalize('NFD')
    .replace(/\p{Mark}/gu, '')
    .replace(/’/g, "'")
    .toLowerCase();
}

/** The countries that can receive airtime (docs/reference/upstream.md, "Countries and networks"). */
export const AIRTIME_COUNTRIES = ['Nigeria', 'Ghana', 'Kenya', 'South Africa', 'Uganda'];

const airtimeKeys = new Set(AIRTIME_COUNTRIES.map(countryKey));

export function takesAirtime(country: string): boolean {
  return airtimeKeys.has(countryKey(country));
}

interface MobileMoneyCode {
  name: string;
  country: string;
  code: string;
  provider?: string;
  manual?: boolean;
}

/**
 * The networks that mobile money reaches: those of docs/reference/upstream.md, and similar ones. As observed, a code is
 * unique only within its country, and rows repeat.
 */
export const MOBILE_MONEY_CODES: MobileMoneyCode[] = [
  { name: 'M-Pesa', country: 'Kenya', code: 'MPS', provider: 'Safaricom' },
  { name: 'Airtel Money', country: 'Kenya', code: 'ATL' },
  { name: 'M-Pesa', country: 'Tanzania', code: 'MPS', provider: 'Vodacom' },
  { name: 'Tigo Pesa', country: 'Tanzania', code: 'TGO', manual: true },
  { name: 'MTN Mobile Money', country: 'Cameroon', code: 'MTN' },
  { name: 'Orange Money', country: 'Cameroon', code: 'ORG' },
  { name: 'MTN Mobile Money', country: "Côte d'Ivoire", code: 'MTN' },
  { name: 'Orange Money', country: "Côte d'Ivoire", code: 'ORG' },
  { name: 'MTN Mobile Money', country: 'Ghana', code: 'MTN' },
  { name: 'Vodafone Cash', country: 'Ghana', code: 'VDF' },
  { name: 'AirtelTigo Money', country: 'Ghana', code: 'ATL' },
  { name: 'MTN Mobile Money', country: 'Ghana', code: 'MTN' },
  { name: 'MTN Mobile Money', country: 'Rwanda', code: 'MTN' },
  { name: 'Airtel Money', country: 'Rwanda', code: 'ATL' },
  { name: 'MTN Mobile Money', country: 'Uganda', code: 'MTN' },
  { name: 'Airtel Money', country: 'Uganda', code: 'ATL' },
  { name: 'MTN Mobile Money', country: 'Uganda', code: 'MTN' },
  { name: 'MTN Mobile Money', country: 'Zambia', code: 'MTN' },
  { name: 'Airtel Money', country: 'Zambia', code: 'ATL', manual: true },
];

const networkKey = (country: string, code: string) => `${countryKey(country)}/${code}`;
const networkKeys = new Set(MOBILE_MONEY_CODES.map(({ country, code }) => networkKey(country, code)));

export function isNetwork(country: string, code: string): boolean {
  return networkKeys.has(networkKey(country, code));
}
