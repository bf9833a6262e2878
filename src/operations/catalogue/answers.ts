import { ref } from '../../platform/schema/fields';
import {
  currencyData,
  data,
  DOCUMENTED_LINK,
  ERROR_WORD,
  linkTo,
  list,
  Schema,
  SHARED_ANSWER_PARTS,
  TELCO_PAYOUTS,
} from './answer-schemas';

interface AnswerData {
  /** The schema of `data`. */
  schema: Schema;
  /** An example of `data`. */
  example: unknown;
}

const ISSUER = '00000000-0000-4000-8000-000000000001';
const SUB_ACCOUNT_ID = '00000000-0000-4000-8000-000000000002';

const EXAMPLE = {
  id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8',
  chiRef: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11',
  issueID: `${ISSUER}_1.5_1795680000000`,
  issueDate: '2026-11-26T08:00:00.000Z',
  issuer: ISSUER,
  status: 'paid',
  valueInUSD: 1.5,
  credit: 1500,
};
const CREDIT_EXAMPLE = {
  ...EXAMPLE,
  type: 'credit',
  email: 'ada@example.com',
  enabledToRedeem: ['airtime', 'momo'],
};
const toPhone = (type: string) => ({
  ...EXAMPLE,
  type,
  phoneNumber: '+254712345678',
  countryToSend: 'Kenya',
  enabledToRedeem: [type],
});
const PAYOUT_EXAMPLE = {
  phoneNumber: '+254712345678',
  amount: 'KES 194.2513',
  status: 'Sent',
  requestId: 'ATQid_1',
  errorMessage: 'None',
};
const WALLET_EXAMPLE = {
  id: 'Wq7Lm2Rb5Vc8Zk3x9Tn1',
  type: 'airtime',
  balance: 529.0179999999988,
  owner: ISSUER,
  transactions: [
    { amount: -1.5, balanceBefore: 530.518, newBalance: 529.018, description: 'airtime payout' },
  ],
};
const SUB_ACCOUNT_EXAMPLE = {
  id: SUB_ACCOUNT_ID,
  uid: SUB_ACCOUNT_ID,
  name: 'Field office West',
  parent: ISSUER,
  subAccount: true,
};

const TRANSACTION = ref('Transaction');
const TRANSACTIONS = list(TRANSACTION, 'One for each item.');
const PAYMENT_LINK = linkTo('the payment of the request');
const LINK_EXAMPLE = 'https://pay.example/3f8a0c1e';

/** A result, or a success without one: `{"error": "not found for that id"}`. */
const found = (schema: Schema): Schema => ({ anyOf: [schema, ref('NoResult')] });

/** The `data` of the upstream's answers, by the answers' names in the document. */
const ANSWERS = {
  PaymentLink: { schema: data({ paymentLink: DOCUMENTED_LINK }), example: { paymentLink: LINK_EXAMPLE } },
  AirtimePayouts: {
    schema: data({
      payoutLink: linkTo('the payout'),
      data: TRANSACTIONS,
      error: ERROR_WORD,
      payouts: TELCO_PAYOUTS,
    }),
    example: {
      payoutLink: LINK_EXAMPLE,
      data: [toPhone('airtime')],
      error: 'None',
      payouts: [PAYOUT_EXAMPLE],
    },
  },
  MobileMoneyPayouts: {
    schema: data({ credits: TRANSACTIONS, payouts: TELCO_PAYOUTS, error: ERROR_WORD }),
    example: { credits: [{ ...toPhone('momo'), momoCode: 'MPS' }], payouts: [PAYOUT_EXAMPLE] },
  },
  CreditPayouts: {
    schema: data({
      paymentLink: PAYMENT_LINK,
      data: TRANSACTIONS,
      credits: list(TRANSACTION, 'Empty in all observed answers.'),
      error: ERROR_WORD,
    }),
    example: { paymentLink: LINK_EXAMPLE, data: [CREDIT_EXAMPLE], credits: [], error: 'None' },
  },
  InitiatedCredits: {
    schema: data({ paymentLink: PAYMENT_LINK, data: TRANSACTIONS, error: ERROR_WORD }),
    example: { paymentLink: LINK_EXAMPLE, data: [{ ...CREDIT_EXAMPLE, status: 'unpaid' }], error: 'None' },
  },
  Transferred: {
    schema: data({ data: ref('Transfer'), error: ERROR_WORD }),
    example: {
      data: {
        sender: ISSUER,
        wallet: 'airtime',
        valueInUSD: 1.5,
        tnxID: CREDIT_EXAMPLE.id,
        receiver: SUB_ACCOUNT_ID,
      },
      error: 'None',
    },
  },
  OneTransaction: { schema: found(TRANSACTION), example: CREDIT_EXAMPLE },
  Transactions: {
    schema: found(list(TRANSACTION, 'Without the scope `account`, those that your client made.')),
    example: [CREDIT_EXAMPLE],
  },
  OneWallet: { schema: found(ref('Wallet')), example: WALLET_EXAMPLE },
  Wallets: { schema: found(list(ref('Wallet'), 'The wallets of the account.')), example: [WALLET_EXAMPLE] },
  OneSubAccount: { schema: found(ref('SubAccount')), example: SUB_ACCOUNT_EXAMPLE },
  SubAccounts: {
    schema: found(list(ref('SubAccount'), 'The sub-accounts of the account.')),
    example: [{ ...SUB_ACCOUNT_EXAMPLE, wallets: [WALLET_EXAMPLE] }],
  },
  Assets: {
    schema: data({ benefitsList: list(ref('Asset'), 'The options for redeeming a credit.') }),
    example: { benefitsList: [{ name: 'Airtime', code: 'airtime', type: 'airtime', available: true }] },
  },
  AirtimeCountries: {
    schema: found(list({ type: 'string' }, 'Names of countries, as `countryToSend` takes them.')),
    example: ['Nigeria', 'Ghana', 'Kenya', 'South Africa', 'Uganda'],
  },
  MobileMoneyCodes: {
    schema: found(list(ref('MobileMoneyCode'), 'The networks.')),
    example: [{ name: 'M-Pesa', country: 'Kenya', code: 'MPS' }],
  },
  LocalAmount: {
    schema: currencyData({
      asked: 'amountInUSD',
      currency: 'destinationCurrency',
      got: 'amountInDestinationCurrency',
    }),
    example: {
      amountInUSD: '100',
      destinationCurrency: 'KES',
      amountInDestinationCurrency: 12950.08,
      validUntil: '2026-11-26T08:15:00.000Z',
    },
  },
  UsdAmount: {
    schema: currencyData({ asked: 'amountInOriginCurrency', currency: 'originCurrency', got: 'amountInUSD' }),
    example: {
      amountInOriginCurrency: '20',
      originCurrency: 'NGN',
      amountInUSD: 0.0131,
      validUntil: '2026-11-26T08:15:00.000Z',
    },
  },
} as const satisfies Record<string, AnswerData>;

export type AnswerName = keyof typeof ANSWERS;

/** Returns the name of an answer's schema in the document. */
export const answerSchemaName = (answer: AnswerName) => `${answer}Answer`;

/** Returns an example of a whole answer. */
export const answerExample = (answer: AnswerName) => ({ status: 'success', data: ANSWERS[answer].example });

/**
 * Returns the schemas of all answers and their parts.
 * @param envelope name of the schema that they extend.
 */
export function answerSchemas(envelope: string): Record<string, Schema> {
  const answers = Object.entries(ANSWERS).map(([name, { schema }]) => [
    answerSchemaName(name as AnswerName),
    { allOf: [ref(envelope), { type: 'object', properties: { data: schema } }] },
  ]);
  return { ...SHARED_ANSWER_PARTS, ...Object.fromEntries(answers) } as Record<string, Schema>;
}
