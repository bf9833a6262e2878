import { SUB_ACCOUNT } from '../sandbox/sandbox';

/** A request that gets no answer. */
export interface UnansweredRequest {
  path: string;
  body: object;
  /** Text that identifies its body and that of its duplicate. */
  mark: string;
  /** Whether the same request is sent twice. */
  isRepeated: boolean;
}

/** Returns the nth request: of all kinds that create something, with one to three items, all distinct. */
export function newUnansweredRequest(number: number, isRepeated = false): UnansweredRequest {
  const places = Array.from({ length: 1 + (number % 3) }, (_, place) => place);
  const valueInUSD = Number((0.01 + number / 10_000).toFixed(4));
  const digits = (place: number) => String(number * 10 + place).padStart(8, '0');
  const email = (place: number) => `lost.${number}.${place}@example.com`;
  const credits = places.map((place) => ({ email: email(place), valueInUSD }));
  const momo = { countryToSend: 'Kenya', momoCode: 'MPS', valueInUSD, reference: `order ${number}` };
  // Paid, and reversed during the test: the sandbox's magic number, each time with another network.
  const reversed = `+234${10 + (number % 90)}99990101`;
  const payer = { phone_number: `+2547${digits(0)}`, fullname: 'Ada Obi', country: 'Kenya', email: email(0) };
  const kinds: Omit<UnansweredRequest, 'isRepeated'>[] = [
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
  const kind = kinds[number % kinds.length] as Omit<UnansweredRequest, 'isRepeated'>;
  return { ...kind, isRepeated };
}
