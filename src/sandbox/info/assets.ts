export interface Asset {
  name: string;
  img: string;
  description: string;
  code: string;
  type: 'airtime' | 'momo' | 'gift-card' | 'crypto' | 'other';
  available: boolean;
}

const asset = (type: Asset['type'], code: string, name: string, description: string, available = true): Asset => ({
  name,
  img: `https://sandbox.example/assets/${code}.png`,
  description,
  code,
  type,
  available,
});

/** The things that a recipient can turn a credit into. The shape is observed, and the rows are invented. */
export const ASSETS: Asset[] = [
  asset('airtime', 'airtime', 'Airtime', 'Airtime or mobile data for a phone'),
  asset('momo', 'momo', 'Mobile money', 'Money on a mobile money account'),
  asset('gift-card', 'gift-groceries', 'Groceries gift card', 'For a supermarket'),
  asset('gift-card', 'gift-books', 'Books gift card', 'For a bookshop'),
  asset('gift-card', 'gift-games', 'Games gift card', 'For a games shop', false),
  asset('crypto', 'btc', 'Bitcoin', 'To an address of your own'),
  asset('crypto', 'usdc', 'USD Coin', 'To an address of your own'),
  asset('other', 'solar', 'Solar tokens', 'Units for a solar meter'),
  asset('other', 'school-fees', 'School fees voucher', 'For a school that takes part'),
];

/** Returns the available asset of this type and code. Undefined if there is none. */
export function availableAsset(type: Asset['type'], code: string): Asset | undefined {
  return ASSETS.find((one) => one.type === type && one.code === code && one.available);
}
