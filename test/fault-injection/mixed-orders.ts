import { SUB_ACCOUNT } from './upstream';

/** Identifiers in earlier answers, for the operations that change these objects. */
export interface ObjectIds {
  /** Unpaid transactions. */
  unpaid: string[];
  /** Paid credits. */
  credits: string[];
  /** Initiated collections. */
  collections: string[];
  /** Sub-accounts. */
  accounts: string[];
}

interface RequestParts {
  body?: object;
  query?: string;
}

/** Builds a request of an operation. Returns undefined until its object exists. */
type Maker = (number: number, named: ObjectIds) => RequestParts | undefined;

const phone = (number: number) => `+2547${String(number).padStart(8, '0')}`;
const email = (number: number) => `p${number}@example.org`;
const mobile = (number: number) => ({ countryToSend: 'Kenya', phoneNumber: phone(number), valueInUSD: 0.25 });
const credit = (number: number) => ({ valueInUSD: 0.25, email: email(number) });
/** Returns an amount whose last five of six decimals identify the order. */
const amount = (number: number) => Number((0.2 + number / 1_000_000).toFixed(6));
const collection = (number: number) => ({
  amount: 500,
  currency: 'KES',
  phone_number: phone(number),
  fullname: 'Ada Lovelace',
  country: 'Kenya',
  email: email(number),
  tx_ref: `trust-${number}`,
});
const about = (field: string, id: string | undefined, more: object = {}): RequestParts | undefined =>
  id === undefined ? undefined : { body: { [field]: id, ...more } };

/**
 * Requests of each kind of transaction. Their answers name the transaction, so that the upstream's list
 * proves how current it is. The answer to POST /send does not.
 */
export const KINDS: [string, (number: number) => object][] = [
  ['POST /payouts/airtime', (number) => ({ airtimes: [mobile(number)] })],
  [
    'POST /payouts/mobile-money',
    (number) => ({ momos: [{ ...mobile(number), reference: '', momoCode: 'MPS' }] }),
  ],
  ['POST /payouts/credit', (number) => ({ credits: [credit(number)] })],
  ['POST /payouts/initiate-credit', (number) => ({ credits: [credit(number)] })],
  ['POST /account/transfer', (number) => ({ receiver: SUB_ACCOUNT, amount: amount(number) })],
  ['POST /collections/mobile-money/collect', (number) => collection(number)],
];

/** Every operation of the interface that pays, changes or reads, with its frequency. */
export const MAKERS: [string, number, Maker][] = [
  ['POST /payouts/airtime', 8, (number) => ({ body: { airtimes: [mobile(number)] } })],
  [
    'POST /payouts/airtime',
    2,
    (number) => ({ body: { airtimes: [mobile(number), mobile(90_000_000 - number)] } }),
  ],
  [
    'POST /payouts/mobile-money',
    6,
    (number) => ({ body: { momos: [{ ...mobile(number), reference: '', momoCode: 'MPS' }] } }),
  ],
  ['POST /payouts/credit', 6, (number) => ({ body: { credits: [credit(number)] } })],
  ['POST /payouts/initiate-credit', 3, (number) => ({ body: { credits: [credit(number)] } })],
  ['POST /send', 3, (number) => ({ body: { credit: [credit(number)] } })],
  ['POST /account/transfer', 3, (number) => ({ body: { receiver: SUB_ACCOUNT, amount: amount(number) } })],
  [
    'POST /wallets/transfer',
    3,
    (number) => ({ body: { receiver: SUB_ACCOUNT, valueInUSD: amount(number), wallet: 'airtime' } }),
  ],
  ['POST /account/delete-unpaid-transaction', 2, (_number, { unpaid }) => about('chiRef', unpaid.pop())],
  [
    'POST /redeem/airtime',
    2,
    (number, { credits }) =>
      about('chiRef', credits.pop(), { phoneNumber: phone(number), countryToSend: 'Kenya' }),
  ],
  ['POST /collections/mobile-money/collect', 2, (number) => ({ body: collection(number) })],
  ['POST /collections/mobile-money/initiate', 2, (number) => ({ body: collection(number) })],
  ['POST /collections/mobile-money/verify', 1, (_number, { collections }) => about('id', collections.pop())],
  ['POST /sub-account/create', 1, (number) => ({ body: { name: `trust-${number}`, email: email(number) } })],
  ['GET /sub-account/list', 1, () => ({})],
  ['GET /sub-account/get', 1, (_number, { accounts }) => ({ query: `id=${accounts.at(-1) ?? SUB_ACCOUNT}` })],
  ['GET /wallets/list', 1, () => ({})],
  ['POST /wallets/lookup', 1, (number) => ({ body: { walletID: `wallet-${number}` } })],
  ['GET /account/transaction', 1, (_number, { credits }) => ({ query: `id=${credits.at(-1) ?? 'none'}` })],
  ['GET /info/assets', 1, () => ({})],
  ['GET /info/airtime-countries', 1, () => ({})],
  ['GET /info/mobile-money-codes', 1, () => ({})],
  [
    'GET /info/usd-amount-in-local',
    1,
    (number) => ({ query: `destinationCurrency=KES&amountInUSD=${number}` }),
  ],
  [
    'GET /info/local-amount-in-usd',
    1,
    (number) => ({ query: `originCurrency=KES&amountInOriginCurrency=${number}` }),
  ],
];

/** Stores the identifiers of an answer. */
export function remember(operation: string, answer: unknown, named: ObjectIds): void {
  if (operation === 'POST /payouts/initiate-credit' || operation === 'POST /send')
    add(named.unpaid, answer, 'chiRef');
  if (operation === 'POST /payouts/credit') add(named.credits, answer, 'chiRef');
  if (operation === 'POST /collections/mobile-money/initiate') add(named.collections, answer, 'id');
  if (operation === 'POST /sub-account/create') add(named.accounts, answer, 'id');
}

function add(ids: string[], answer: unknown, field: string): void {
  const id = find(answer, field);
  if (id !== undefined) ids.push(id);
}

/** Returns the first value of a field, at any depth. */
function find(value: unknown, field: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = name === field && typeof inner === 'string' ? inner : find(inner, field);
    if (found !== undefined) return found;
  }
  return undefined;
}
