import { OperationRow } from './row';
import { COLLECTION, TRANSFER } from './transactions';

/** The rows of reads with equal answers for all clients. */
const INFO = { effect: 'read', cached: true, reach: 'own', deadline: 'lookup' } as const;

/**
 * A collection requests money, in the currency of the country. It pays no recipient, and its amount is not in
 * US dollars.
 */
const COLLECTING = {
  effect: 'write',
  moves: 'nothing',
  input: 'body',
  items: {
    in: 'the_body',
    recipient: 'nobody',
    fields: { phone: 'phone_number', email: 'email', country: 'country', reference: 'tx_ref' },
    unrecorded: ['amount', 'currency', 'fullname'],
    ownId: 'nowhere',
  },
  coverage: 'none',
  transactions: { creates: COLLECTION, namedInAnswer: false },
  reach: 'own',
  deadline: 'change',
  answer: 'OneTransaction',
  example: {
    amount: 150.5,
    currency: 'KES',
    phone_number: '+254712345678',
    fullname: 'Ada Lovelace',
    country: 'Kenya',
    email: 'ada@example.com',
    tx_ref: 'sample',
  },
} as const;

/**
 * The operations that docs/reference/upstream.md lists only by name. Their rows follow public clients (same
 * page).
 */
export const OBSERVED = {
  'POST /account/transactions': {
    title: 'Get all transactions',
    effect: 'read',
    input: 'body',
    cached: false,
    reach: 'transactions',
    deadline: 'listing',
    answer: 'Transactions',
    example: {},
  },
  'POST /account/issue-id-transactions': {
    title: 'Get the transactions of one batch',
    effect: 'read',
    input: 'query',
    cached: false,
    reach: { in: 'issueID', names: 'batchRef' },
    deadline: 'listing',
    answer: 'Transactions',
    example: { issueID: 'user-1_7.5_1700000000000' },
  },
  'GET /info/assets': {
    title: 'List what a credit can be redeemed for',
    ...INFO,
    input: 'none',
    answer: 'Assets',
    example: {},
  },
  'GET /info/airtime-countries': {
    title: 'List the countries that airtime can be sent to',
    ...INFO,
    input: 'none',
    answer: 'AirtimeCountries',
    example: {},
  },
  'GET /info/mobile-money-codes': {
    title: 'List the values of `momoCode`. A code is unique only within a country',
    ...INFO,
    input: 'none',
    answer: 'MobileMoneyCodes',
    example: {},
  },
  'GET /info/usd-amount-in-local': {
    title: 'Convert US dollars into another currency',
    ...INFO,
    input: 'query',
    answer: 'LocalAmount',
    example: { destinationCurrency: 'KES', amountInUSD: '100.50' },
  },
  'GET /info/local-amount-in-usd': {
    title: 'Convert another currency into US dollars',
    ...INFO,
    input: 'query',
    answer: 'UsdAmount',
    example: { originCurrency: 'NGN', amountInOriginCurrency: '20' },
  },
  'POST /collections/mobile-money/collect': {
    title: 'Collect a mobile money payment',
    ...COLLECTING,
  },
  'POST /collections/mobile-money/initiate': {
    title: 'Initiate a mobile money payment',
    ...COLLECTING,
  },
  'POST /collections/mobile-money/verify': {
    title: 'Verify a mobile money payment',
    effect: 'write',
    moves: 'nothing',
    input: 'body',
    items: 'none',
    coverage: 'none',
    transactions: 'none',
    reach: { in: 'id', names: 'upstreamId' },
    deadline: 'change',
    answer: 'OneTransaction',
    example: { id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' },
  },
  // The body names a transaction and no amount. Redeeming pays that transaction's value to a phone number.
  'POST /redeem/airtime': {
    title: 'Redeem a paid credit as airtime',
    effect: 'write',
    moves: 'named_transaction',
    input: 'body',
    items: {
      in: 'the_body',
      recipient: ['phone'],
      fields: { upstreamRef: 'chiRef', phone: 'phoneNumber', country: 'countryToSend' },
      unrecorded: ['meta'],
      ownId: { field: 'meta', of: 'the_body', form: 'note' },
    },
    coverage: 'GET /info/airtime-countries',
    transactions: { changes: 'redeemed' },
    reach: { in: 'chiRef', names: 'upstreamRef' },
    deadline: 'change',
    answer: 'OneTransaction',
    example: {
      chiRef: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11',
      phoneNumber: '+2348012345678',
      countryToSend: 'Nigeria',
      meta: { order: 'A-17', lines: [{ sku: 1 }] },
    },
  },
  'POST /sub-account/create': {
    title: 'Create a sub-account',
    effect: 'write',
    moves: 'nothing',
    input: 'body',
    items: {
      in: 'the_body',
      recipient: 'nobody',
      fields: { email: 'email', phone: 'phoneNumber' },
      unrecorded: ['name', 'firstName', 'lastName', 'meta'],
      ownId: { field: 'meta', of: 'the_body', form: 'note' },
    },
    coverage: 'none',
    transactions: 'none',
    reach: 'own',
    deadline: 'change',
    answer: 'OneSubAccount',
    example: {
      name: 'Branch',
      email: 'ada@example.com',
      firstName: 'Ada',
      lastName: 'Lovelace',
      phoneNumber: '+2348012345678',
      meta: { cost_centre: 17 },
    },
  },
  'GET /sub-account/get': {
    title: 'Get one sub-account, with its wallets',
    effect: 'read',
    input: 'query',
    cached: false,
    reach: 'account',
    deadline: 'lookup',
    answer: 'OneSubAccount',
    example: { id: 'sub-account-1' },
  },
  'POST /wallets/lookup': {
    title: 'Get one wallet',
    effect: 'read',
    input: 'body',
    cached: false,
    reach: 'account',
    deadline: 'lookup',
    answer: 'OneWallet',
    example: { walletID: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' },
  },
  'POST /wallets/transfer': {
    title: 'Transfer between wallets',
    effect: 'pay',
    input: 'body',
    items: {
      in: 'the_body',
      recipient: ['receiver'],
      fields: { receiver: 'receiver', amountUsd: 'valueInUSD', wallet: 'wallet' },
      unrecorded: [],
      ownId: 'nowhere',
    },
    coverage: 'none',
    transactions: { creates: TRANSFER, namedInAnswer: false },
    reach: { in: 'receiver', names: 'subAccountId' },
    deadline: 'payout',
    answer: 'Transferred',
    example: { receiver: 'sub-account-1', valueInUSD: 7, wallet: 'momo' },
  },
} as const satisfies Record<string, OperationRow>;
