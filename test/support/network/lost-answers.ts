import { SUB_ACCOUNT } from '../sandbox/sandbox';

/** A request without an answer, with its identification. */
export interface Lost {
  path: string;
  body: object;
  /** A value unique to its body and the body of its duplicate. */
  mark: string;
  /** Whether the same request is sent twice. */
  twin: boolean;
}

/** Requests of all kinds that create something, with one or more items. All differ, except for duplicates. */
export function makeLost(number: number, twin = false): Lost {
  const places = Array.from({ length: 1 + (number % 3) }, (_, place) => place);
  const valueInUSD = Number((0.01 + number / 10_000).toFixed(4));
  const digits = (place: number) => String(number * 10 + place).padStart(8, '0');
  const email = (place: number) => `lost.${number}.${place}@example.com`;
  const credits = places.map((place) => ({ email: email(place), valueInUSD }));
  const momo = { countryToSend: 'Kenya', momoCode: 'MPS', valueInUSD, reference: `order ${number}` };
  // Paid, and reversed during the test: the sandbox's magic number, each time with another network.
  const reversed = `+234${10 + (number % 90)}99990101`;
  const payer = { phone_number: `+2547${digits(0)}`, fullname: 'Ada Obi', country: 'Kenya', email: email(0) };
  const kinds: Omit<Lost, 'twin'>[] = [
    {
      path: '/payouts/airtime',
      body: {
        airtimes: places.map((place) => ({
          countryToSend: 'Kenya',
          phoneNumber: `+2547${digits(place)}`,
          valueInUSD,
        })),
      },
      mark: `+2547${digits(0)}`,
    },
    {
      path: '/payouts/airtime',
      body: { airtimes: [{ countryToSend: 'Nigeria', phoneNumber: reversed, valueInUSD }] },
      mark: `"valueInUSD":${valueInUSD}}`,
    },
    {
      path: '/payouts/mobile-money',
      body: { momos: places.map((place) => ({ ...momo, phoneNumber: `+2547${digits(place)}` })) },
      mark: `+2547${digits(0)}`,
    },
    { path: '/payouts/credit', body: { credits }, mark: email(0) },
    { path: '/payouts/initiate-credit', body: { credits }, mark: email(0) },
    { path: '/send', body: { credit: credits }, mark: email(0) },
    {
      path: '/account/transfer',
      body: { receiver: SUB_ACCOUNT, amount: valueInUSD, wallet: 'chi' },
      mark: `"amount":${valueInUSD},`,
    },
    {
      path: '/collections/mobile-money/collect',
      body: { ...payer, amount: 100 + number, currency: 'KES', tx_ref: `collect ${number}` },
      mark: email(0),
    },
  ];
  const kind = kinds[number % kinds.length] as Omit<Lost, 'twin'>;
  return { ...kind, twin };
}
