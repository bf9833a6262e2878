import { OperationRow } from './row';
import { LINK, TRANSFER } from './transactions';

/** Credits are sent to people by their email addresses or handles. */
const CREDITS = {
  recipient: ['email', 'handle'],
  fields: { email: 'email', handle: 'twitter', amountUsd: 'valueInUSD' },
  unrecorded: [],
} as const;

/** The free text that the upstream lists with the transactions of a body. */
const DESCRIPTION = { field: 'description', of: 'the_body', form: 'sentence' } as const;

const PHONE = { countryToSend: 'Kenya', phoneNumber: '+254712345678' };

/** The operations that the provider documents. */
export const DOCUMENTED = {
  'POST /send': {
    title: 'Send credits to recipients by email or handle. Returns a link for the payment',
    effect: 'write',
    moves: 'nothing',
    input: 'body',
    items: { ...CREDITS, in: 'credit', ownId: DESCRIPTION },
    coverage: 'none',
    transactions: { creates: LINK, namedInAnswer: false },
    reach: 'own',
    deadline: 'change',
    answer: 'PaymentLink',
    example: { credit: [{ email: 'ada@example.com', valueInUSD: 5 }], description: 'Sample' },
  },
  'POST /payouts/airtime': {
    title: 'Pay out airtime to phone numbers',
    effect: 'pay',
    input: 'body',
    items: {
      in: 'airtimes',
      recipient: ['phone'],
      fields: { phone: 'phoneNumber', country: 'countryToSend', amountUsd: 'valueInUSD' },
      unrecorded: [],
      ownId: 'nowhere',
    },
    coverage: 'GET /info/airtime-countries',
    transactions: { creates: { name: 'airtime', type: 'airtime', class: 'payout' }, namedInAnswer: true },
    reach: 'own',
    deadline: 'payout',
    answer: 'AirtimePayouts',
    example: { airtimes: [{ ...PHONE, valueInUSD: 1.5 }] },
  },
  'POST /payouts/mobile-money': {
    title: 'Pay out mobile money',
    effect: 'pay',
    input: 'body',
    items: {
      in: 'momos',
      recipient: ['phone'],
      fields: {
        phone: 'phoneNumber',
        country: 'countryToSend',
        networkCode: 'momoCode',
        amountUsd: 'valueInUSD',
        reference: 'reference',
      },
      unrecorded: [],
      ownId: { field: 'reference', of: 'each_item', form: 'plain' },
    },
    coverage: 'GET /info/mobile-money-codes',
    transactions: {
      creates: { name: 'mobile money', type: 'mobile_money', class: 'payout' },
      namedInAnswer: true,
    },
    reach: 'own',
    deadline: 'payout',
    answer: 'MobileMoneyPayouts',
    example: { momos: [{ ...PHONE, valueInUSD: 2.5, reference: 'sample', momoCode: 'MPS' }] },
  },
  'POST /payouts/credit': {
    title: 'Pay out credits to recipients',
    effect: 'pay',
    input: 'body',
    items: { ...CREDITS, in: 'credits', ownId: 'nowhere' },
    coverage: 'none',
    transactions: { creates: { name: 'credit', type: 'credit', class: 'payout' }, namedInAnswer: true },
    reach: 'own',
    deadline: 'payout',
    answer: 'CreditPayouts',
    example: { credits: [{ email: 'ada@example.com', valueInUSD: 3 }] },
  },
  // Money moves when the recipient's link is paid, outside of the proxy. The call creates a link and pays
  // nothing.
  'POST /payouts/initiate-credit': {
    title: 'Initiate a payout of credits. Money moves when its link is paid',
    effect: 'write',
    moves: 'nothing',
    input: 'body',
    items: { ...CREDITS, in: 'credits', ownId: DESCRIPTION },
    coverage: 'none',
    transactions: { creates: LINK, namedInAnswer: true },
    reach: 'own',
    deadline: 'change',
    answer: 'InitiatedCredits',
    example: { credits: [{ email: 'ada@example.com', valueInUSD: 4 }], description: 'Sample' },
  },
  'POST /account/transfer': {
    title: 'Transfer an amount to a sub-account',
    effect: 'pay',
    input: 'body',
    items: {
      in: 'the_body',
      recipient: ['receiver'],
      fields: { receiver: 'receiver', amountUsd: 'amount', wallet: 'wallet' },
      unrecorded: [],
      ownId: 'nowhere',
    },
    coverage: 'none',
    transactions: { creates: TRANSFER, namedInAnswer: false },
    reach: { in: 'receiver', names: 'subAccountId' },
    deadline: 'payout',
    answer: 'Transferred',
    example: { receiver: 'sub-account-1', amount: 6, wallet: 'airtime' },
  },
  'POST /account/delete-unpaid-transaction': {
    title: 'Delete an unpaid transaction',
    effect: 'write',
    moves: 'nothing',
    input: 'body',
    items: {
      in: 'the_body',
      recipient: 'nobody',
      fields: { upstreamRef: 'chiRef' },
      unrecorded: [],
      ownId: 'nowhere',
    },
    coverage: 'none',
    transactions: { changes: 'deleted' },
    reach: { in: 'chiRef', names: 'upstreamRef' },
    deadline: 'change',
    answer: 'OneTransaction',
    example: { chiRef: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11' },
  },
  'GET /account/transaction': {
    title: 'Get one transaction',
    effect: 'read',
    input: 'query',
    cached: false,
    reach: { in: 'id', names: 'upstreamId' },
    deadline: 'lookup',
    answer: 'OneTransaction',
    example: { id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' },
  },
  // The document's heading is GET, its examples are POST. The proxy accepts both, and forwards GET.
  'GET /wallets/list': {
    title: 'List the wallets of the account',
    effect: 'read',
    input: 'none',
    cached: false,
    reach: 'account',
    deadline: 'listing',
    answer: 'Wallets',
    example: {},
  },
  'GET /sub-account/list': {
    title: 'List the sub-accounts of the user, with their wallets',
    effect: 'read',
    input: 'none',
    cached: false,
    reach: 'account',
    deadline: 'listing',
    answer: 'SubAccounts',
    example: {},
  },
} as const satisfies Record<string, OperationRow>;
