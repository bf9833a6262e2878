import { first } from '../../support/examples/first';
import { dataOf } from '../../support/http/interface-client';
import { DocumentedRequest, walk, without, wrong } from '../../support/http/walk';

const email = { email: 'ada@example.com', valueInUSD: 0.5 };
const handle = { twitter: '@ada', valueInUSD: 0.5 };
const airtime = { countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 0.5 };
const momo = { ...airtime, reference: 'invoice-17', momoCode: 'MPS' };
const transfer = { receiver: '00000000-0000-4000-8000-000000000002', amount: 0.5, wallet: 'airtime' };

const link = { paymentLink: expect.stringMatching(/^http/) };
const transactions = (count: number, status: string) =>
  Array.from({ length: count }, () =>
    expect.objectContaining({ id: expect.any(String), chiRef: expect.any(String), status }),
  );

/** The rules of a credit item hold in each operation (docs/reference/upstream.md, "Credit item"). */
function creditRules(request: string, list: string, data: unknown): DocumentedRequest[] {
  const body = (...items: object[]) => ({ [list]: items });
  return [
    { title: 'an item with an e-mail', request, body: body(email), data },
    { title: 'an item with a handle only', request, body: body(handle), data },
    { title: 'an e-mail with an empty handle', request, body: body({ ...email, twitter: '' }), data },
    { title: 'an e-mail with a handle', request, body: body({ ...email, twitter: '@ada' }), data },
    { title: 'no recipient', request, body: body({ valueInUSD: 0.5 }) },
    { title: 'an empty handle alone', request, body: body({ twitter: '', valueInUSD: 0.5 }) },
    { title: 'a handle without @', request, body: body({ twitter: 'ada', valueInUSD: 0.5 }) },
    { title: 'an invalid e-mail', request, body: body(wrong(email, 'email', 'ada')) },
    { title: 'a value in words', request, body: body(wrong(email, 'valueInUSD', 'half')) },
    { title: 'a negative value', request, body: body(wrong(email, 'valueInUSD', -0.5)) },
    { title: 'a valid item with an invalid one', request, body: body(email, { valueInUSD: 0.5 }) },
    { title: 'no list', request, body: {} },
    { title: 'an object instead of the list', request, body: { [list]: email } },
  ];
}

/** The rules of airtime and mobile money items. */
function phoneRules(request: string, list: string, item: object, data: unknown): DocumentedRequest[] {
  const body = (...items: object[]) => ({ [list]: items });
  return [
    { title: 'two countries', request, body: body(item, wrong(item, 'phoneNumber', '+254700000001')), data },
    ...Object.keys(item).map((field) => ({
      title: `${field} is required`,
      request,
      body: body(without(item, field)),
    })),
    { title: 'a phone number without +', request, body: body(wrong(item, 'phoneNumber', '254712345678')) },
    { title: 'an invalid phone number', request, body: body(wrong(item, 'phoneNumber', '+ada')) },
    { title: 'a value in words', request, body: body(wrong(item, 'valueInUSD', 'one')) },
    { title: 'a number as the country', request, body: body(wrong(item, 'countryToSend', 254)) },
    { title: 'a valid item with an invalid one', request, body: body(item, without(item, 'phoneNumber')) },
    { title: 'no list', request, body: {} },
  ];
}

const WALK: DocumentedRequest[] = [
  ...creditRules('POST /send', 'credit', link),
  {
    title: 'a description',
    request: 'POST /send',
    body: { credit: [email], description: 'Prizes' },
    data: link,
  },
  { title: 'a number as the description', request: 'POST /send', body: { credit: [email], description: 7 } },

  ...phoneRules('POST /payouts/airtime', 'airtimes', airtime, {
    data: transactions(2, 'paid'),
    error: 'None',
  }),
  ...phoneRules('POST /payouts/mobile-money', 'momos', momo, { credits: transactions(2, 'paid') }),
  {
    title: 'an empty reference',
    request: 'POST /payouts/mobile-money',
    body: { momos: [{ ...momo, reference: '' }] },
    data: {},
  },
  {
    title: 'an unknown code',
    request: 'POST /payouts/mobile-money',
    body: { momos: [wrong(momo, 'momoCode', 'XXX')] },
  },

  ...creditRules('POST /payouts/credit', 'credits', { ...link, data: transactions(1, 'paid'), credits: [] }),
  ...creditRules('POST /payouts/initiate-credit', 'credits', { ...link, data: transactions(1, 'unpaid') }),
  {
    title: 'a description',
    request: 'POST /payouts/initiate-credit',
    body: { description: 'Prizes', credits: [email] },
    data: link,
  },

  {
    title: 'to a wallet',
    request: 'POST /account/transfer',
    body: transfer,
    data: { data: { wallet: 'airtime' } },
  },
  {
    title: 'wallet is optional',
    request: 'POST /account/transfer',
    body: without(transfer, 'wallet'),
    data: { error: 'None' },
  },
  { title: 'receiver is required', request: 'POST /account/transfer', body: without(transfer, 'receiver') },
  {
    title: 'an amount in words',
    request: 'POST /account/transfer',
    body: wrong(transfer, 'amount', 'one'),
  },
  { title: 'a number as the wallet', request: 'POST /account/transfer', body: wrong(transfer, 'wallet', 1) },

  { title: 'chiRef is required', request: 'POST /account/delete-unpaid-transaction', body: {} },
  { title: 'chiRef is a string', request: 'POST /account/delete-unpaid-transaction', body: { chiRef: 7 } },
  {
    title: 'an unknown chiRef',
    request: 'POST /account/delete-unpaid-transaction',
    body: { chiRef: 'none' },
  },

  { title: 'id is required', request: 'GET /account/transaction' },
  { title: 'GET, the documented method', request: 'GET /wallets/list', data: [] },
  { title: 'POST, as in the code examples', request: 'POST /wallets/list', data: [] },
  { title: 'the sub-accounts', request: 'GET /sub-account/list', data: [] },
];

describe('a walk through the documented interface', () => {
  walk(WALK, (client, baseUrl) => {
    it('rejects requests without a key', async () => {
      const response = await fetch(`${baseUrl()}/api/v0.1/wallets/list`);
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ status: 'error', error: expect.stringMatching(/key/) });
    });

    it('reads one transaction by its id, and deletes an unpaid one by its reference', async () => {
      const unpaid = first(
        dataOf('POST /payouts/initiate-credit', await client().initiateCredit([email])).data,
      );
      expect(dataOf('GET /account/transaction', await client().transaction(unpaid.id))).toEqual(unpaid);
      expect(
        dataOf('POST /account/delete-unpaid-transaction', await client().deleteUnpaid(unpaid.chiRef)),
      ).toMatchObject({ id: unpaid.id, status: 'unpaid' });
      expect(dataOf('GET /account/transaction', await client().transaction(unpaid.id))).toEqual({
        error: 'not found for that id',
      });
    });

    it('lists wallets and sub-accounts with the observed fields', async () => {
      const wallets = dataOf('GET /wallets/list', await client().wallets());
      expect(wallets.map(({ type }) => type).sort()).toEqual(['airtime', 'chi', 'momo']);
      const [wallet] = wallets;
      expect(Object.keys(wallet as object).sort()).toEqual([
        'balance',
        'id',
        'owner',
        'transactions',
        'type',
      ]);
      const [subAccount] = dataOf('GET /sub-account/list', await client().subAccounts());
      expect(subAccount).toMatchObject({
        subAccount: true,
        uid: expect.any(String),
        wallets: expect.any(Array),
      });
    });
  });
});
