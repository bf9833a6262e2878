import { first } from '../../support/examples/first';
import { dataOf } from '../../support/http/interface-client';
import { DocumentedRequest, walk, without, wrong } from '../../support/http/walk';

const charge = {
  amount: 1_295,
  currency: 'KES',
  phone_number: '+254712345678',
  fullname: 'Ada Otieno',
  country: 'Kenya',
  email: 'ada@example.com',
  tx_ref: 'order-17',
};
const redemption = {
  chiRef: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11',
  phoneNumber: '+254712345678',
  countryToSend: 'Kenya',
};
const account = { name: 'Field office West', email: 'west@example.com' };
const transfer = { receiver: '00000000-0000-4000-8000-000000000002', valueInUSD: 0.5, wallet: 'momo' };
const toLocal = (query: string) => `GET /info/usd-amount-in-local?${query}`;
const toUsd = (query: string) => `GET /info/local-amount-in-usd?${query}`;

/** Each field is required, and has a type. */
function fields(request: string, body: object, kinds: Record<string, unknown>): DocumentedRequest[] {
  return Object.entries(kinds).flatMap(([field, value]) => [
    { title: `${field} is required`, request, body: without(body, field) },
    { title: `${field} is not ${JSON.stringify(value)}`, request, body: wrong(body, field, value) },
  ]);
}

const COLLECTION_FIELDS = {
  amount: -1,
  currency: 'shillings',
  phone_number: '0712',
  email: 'ada',
  tx_ref: 17,
};
const COLLECTED = { id: expect.any(String), chiRef: expect.any(String) };

/** docs/reference/upstream.md, "Operations known by name only". */
const WALK: DocumentedRequest[] = [
  { title: 'all', request: 'POST /account/transactions', body: {}, data: [] },
  {
    title: 'an unknown batch',
    request: 'POST /account/issue-id-transactions?issueID=none',
    data: { error: 'not found for that id' },
  },
  { title: 'issueID is required', request: 'POST /account/issue-id-transactions' },

  {
    title: 'the products for credits',
    request: 'GET /info/assets',
    data: { benefitsList: expect.any(Array) },
  },
  {
    title: 'countries',
    request: 'GET /info/airtime-countries',
    data: ['Nigeria', 'Ghana', 'Kenya', 'South Africa', 'Uganda'],
  },
  { title: 'networks', request: 'GET /info/mobile-money-codes', data: [] },
  {
    title: 'a conversion',
    request: toLocal('destinationCurrency=KES&amountInUSD=100'),
    data: {
      amountInUSD: '100',
      destinationCurrency: 'KES',
      amountInDestinationCurrency: expect.any(Number),
      validUntil: expect.any(String),
    },
  },
  { title: 'a currency is required', request: toLocal('amountInUSD=100') },
  { title: 'an amount is required', request: toLocal('destinationCurrency=KES') },
  { title: 'an amount in words', request: toLocal('destinationCurrency=KES&amountInUSD=much') },
  {
    title: 'a conversion',
    request: toUsd('originCurrency=NGN&amountInOriginCurrency=20'),
    data: {
      amountInOriginCurrency: '20',
      originCurrency: 'NGN',
      amountInUSD: expect.any(Number),
      validUntil: expect.any(String),
    },
  },
  { title: 'a currency is required', request: toUsd('amountInOriginCurrency=20') },
  { title: 'a negative amount', request: toUsd('originCurrency=NGN&amountInOriginCurrency=-20') },

  {
    title: 'an immediate collection',
    request: 'POST /collections/mobile-money/collect',
    body: charge,
    data: COLLECTED,
  },
  ...fields('POST /collections/mobile-money/collect', charge, COLLECTION_FIELDS),
  {
    title: 'a collection to verify',
    request: 'POST /collections/mobile-money/initiate',
    body: charge,
    data: COLLECTED,
  },
  ...fields('POST /collections/mobile-money/initiate', charge, COLLECTION_FIELDS),
  ...fields('POST /collections/mobile-money/verify', { id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' }, { id: 7 }),

  ...fields('POST /redeem/airtime', redemption, {
    chiRef: 7,
    phoneNumber: '0712',
    countryToSend: 'Atlantis',
  }),
  { title: 'meta is an object', request: 'POST /redeem/airtime', body: { ...redemption, meta: 'text' } },

  {
    title: 'name and e-mail',
    request: 'POST /sub-account/create',
    body: account,
    data: { subAccount: true, name: account.name },
  },
  {
    title: 'meta',
    request: 'POST /sub-account/create',
    body: { ...account, meta: { a: [1] } },
    data: { meta: { a: [1] } },
  },
  ...fields('POST /sub-account/create', account, { name: 7, email: 'west' }),
  { title: 'id is required', request: 'GET /sub-account/get' },

  { title: 'walletID is required', request: 'POST /wallets/lookup', body: {} },
  {
    title: 'to a wallet',
    request: 'POST /wallets/transfer',
    body: transfer,
    data: { data: { wallet: 'momo' }, error: 'None' },
  },
  {
    title: 'wallet is optional',
    request: 'POST /wallets/transfer',
    body: without(transfer, 'wallet'),
    data: { error: 'None' },
  },
  ...fields('POST /wallets/transfer', transfer, { receiver: 7, valueInUSD: 'half' }),
];

describe('a walk through the operations without documented fields', () => {
  walk(WALK, (client) => {
    it('reads the transactions of a batch', async () => {
      const [, ...others] = dataOf(
        'POST /payouts/initiate-credit',
        await client().initiateCredit([credit(1), credit(2)]),
      ).data;
      const listed = dataOf(
        'POST /account/issue-id-transactions',
        await client().transactionsOfIssue(first(others).issueID),
      );
      expect(listed).toHaveLength(2);
      expect(dataOf('POST /account/transactions', await client().transactions())).toEqual(
        expect.arrayContaining(listed),
      );
    });

    it('redeems a paid credit as airtime, once', async () => {
      const { chiRef } = first(dataOf('POST /payouts/credit', await client().payOutCredit([credit(1)])).data);
      expect((await client().redeemAirtime({ ...redemption, chiRef, meta: { note: 'thanks' } })).status).toBe(
        200,
      );
      const again = await client().redeemAirtime({ ...redemption, chiRef });
      expect([again.status, JSON.parse(again.text)]).toMatchObject([400, { error: 'ERROR-REDEEMED' }]);
    });

    it('verifies an initiated collection, and counts it once', async () => {
      const balance = async () =>
        dataOf('GET /wallets/list', await client().wallets()).find(({ type }) => type === 'momo')?.balance;
      const before = await balance();
      const { id } = dataOf(
        'POST /collections/mobile-money/initiate',
        await client().initiateCollection(charge),
      );
      expect(await balance()).toBe(before);
      await client().verifyCollection(id);
      const after = await balance();
      expect(after).toBeGreaterThan(before as number);
      await client().verifyCollection(id);
      expect(await balance()).toBe(after);
    });

    it('reads a new sub-account, and looks up its wallet', async () => {
      const created = dataOf('POST /sub-account/create', await client().createSubAccount(account));
      const got = dataOf('GET /sub-account/get', await client().subAccount(created.id));
      expect(got).toMatchObject({ id: created.id, uid: created.uid, name: account.name });
      expect(dataOf('POST /wallets/lookup', await client().lookUpWallet(first(got.wallets).id))).toEqual(
        got.wallets[0],
      );
    });
  });
});

function credit(valueInUSD: number) {
  return { email: 'ada@example.com', valueInUSD };
}
