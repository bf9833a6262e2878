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

/** The credit item's rules hold wherever it stands (docs/reference/upstream.md, "Credit item"). */
function creditRules(request: string, list: string, data: unknown): DocumentedRequest[] {
  const body = (...items: object[]) => ({ [list]: items });
  return [
    { says: 'an item with an e-mail', request, body: body(email), data },
    { says: 'an item with a handle only', request, body: body(handle), data },
    { says: 'an empty handle beside an e-mail', request, body: body({ ...email, twitter: '' }), data },
    { says: 'both: the e-mail is used', request, body: body({ ...email, twitter: '@ada' }), data },
    { says: 'rule 1: neither', request, body: body({ valueInUSD: 0.5 }) },
    { says: 'rule 1: an empty handle alone', request, body: body({ twitter: '', valueInUSD: 0.5 }) },
    { says: 'a handle without its @', request, body: body({ twitter: 'ada', valueInUSD: 0.5 }) },
    { says: 'an e-mail that is none', request, body: body(wrong(email, 'email', 'ada')) },
    { says: 'a value that is no number', request, body: body(wrong(email, 'valueInUSD', 'half')) },
    { says: 'a value below zero', request, body: body(wrong(email, 'valueInUSD', -0.5)) },
    { says: 'a good item beside a bad one', request, body: body(email, { valueInUSD: 0.5 }) },
    { says: 'no list', request, body: {} },
    { says: 'a list that is none', request, body: { [list]: email } },
  ];
}

/** The rules that airtime and mobile money items share. */
function phoneRules(request: string, list: string, item: object, data: unknown): DocumentedRequest[] {
  const body = (...items: object[]) => ({ [list]: items });
  return [
    { says: 'two countries', request, body: body(item, wrong(item, 'phoneNumber', '+254700000001')), data },
    ...Object.keys(item).map((field) => ({
      says: `${field} is required`,
      request,
      body: body(without(item, field)),
    })),
    { says: 'a phone number without its +', request, body: body(wrong(item, 'phoneNumber', '254712345678')) },
    { says: 'a phone number that is none', request, body: body(wrong(item, 'phoneNumber', '+ada')) },
    { says: 'a value that is no number', request, body: body(wrong(item, 'valueInUSD', 'one')) },
    { says: 'a country that is no text', request, body: body(wrong(item, 'countryToSend', 254)) },
    { says: 'a good item beside a bad one', request, body: body(item, without(item, 'phoneNumber')) },
    { says: 'no list', request, body: {} },
  ];
}

const WALK: DocumentedRequest[] = [
  ...creditRules('POST /send', 'credit', link),
  {
    says: 'a description',
    request: 'POST /send',
    body: { credit: [email], description: 'Prizes' },
    data: link,
  },
  { says: 'a description that is no text', request: 'POST /send', body: { credit: [email], description: 7 } },

  ...phoneRules('POST /payouts/airtime', 'airtimes', airtime, {
    data: transactions(2, 'paid'),
    error: 'None',
  }),
  ...phoneRules('POST /payouts/mobile-money', 'momos', momo, { credits: transactions(2, 'paid') }),
  {
    says: 'an empty reference',
    request: 'POST /payouts/mobile-money',
    body: { momos: [{ ...momo, reference: '' }] },
    data: {},
  },
  {
    says: 'an unknown code',
    request: 'POST /payouts/mobile-money',
    body: { momos: [wrong(momo, 'momoCode', 'XXX')] },
  },

  ...creditRules('POST /payouts/credit', 'credits', { ...link, data: transactions(1, 'paid'), credits: [] }),
  ...creditRules('POST /payouts/initiate-credit', 'credits', { ...link, data: transactions(1, 'unpaid') }),
  {
    says: 'a description',
    request: 'POST /payouts/initiate-credit',
    body: { description: 'Prizes', credits: [email] },
    data: link,
  },

  {
    says: 'to a wallet',
    request: 'POST /account/transfer',
    body: transfer,
    data: { data: { wallet: 'airtime' } },
  },
  {
    says: 'wallet is optional',
    request: 'POST /account/transfer',
    body: without(transfer, 'wallet'),
    data: { error: 'None' },
  },
  { says: 'receiver is required', request: 'POST /account/transfer', body: without(transfer, 'receiver') },
  {
    says: 'an amount that is no number',
    request: 'POST /account/transfer',
    body: wrong(transfer, 'amount', 'one'),
  },
  { says: 'a wallet that is no text', request: 'POST /account/transfer', body: wrong(transfer, 'wallet', 1) },

  { says: 'chiRef is required', request: 'POST /account/delete-unpaid-transaction', body: {} },
  { says: 'chiRef is a string', request: 'POST /account/delete-unpaid-transaction', body: { chiRef: 7 } },
  {
    says: 'a chiRef that is none',
    request: 'POST /account/delete-unpaid-transaction',
    body: { chiRef: 'none' },
  },

  { says: 'id is required', request: 'GET /account/transaction' },
  { says: 'GET, the documented method', request: 'GET /wallets/list', data: [] },
  { says: 'POST, as the code examples', request: 'POST /wallets/list', data: [] },
  { says: 'the sub-accounts', request: 'GET /sub-account/list', data: [] },
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
