import { ref } from '../../platform/schema/fields';

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** Schemas of answers. The upstream documents few fields. The others were seen in public clients. */
const DOCUMENTED = { 'x-source': 'documented' } as const;

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more });
const flag = (description: string): Schema => ({ type: 'boolean', description });
const number = (description: string): Schema => ({ type: 'number', description });
const free = (description: string): Schema => ({ type: 'object', additionalProperties: true, description });
export const list = (items: Schema, description: string): Schema => ({ type: 'array', items, description });

/** A number, or its text such as `"0.1"`. */
const amount = (description: string): Schema => ({ type: ['number', 'string'], description });

/** An object with optional fields, which may have others. */
const lenient = (description: string, properties: Record<string, Schema>): Schema => ({
  type: 'object',
  description,
  'x-source': 'observed',
  properties,
  additionalProperties: true,
});

const PARTY = 'ID of the account';

const TRANSACTION = lenient(
  'A transaction. `id` and `chiRef` are documented, and the other fields were observed. Fields without ' +
    'a value are missing.',
  {
    id: text('Reads the transaction: `GET /account/transaction?id=`.', DOCUMENTED),
    chiRef: {
      type: ['string', 'number'],
      description: 'Deletes and redeems the transaction. A UUID, which was also seen as a number.',
      ...DOCUMENTED,
    },
    issueID: text('ID of its batch. The same for all items of a request.'),
    issueDate: text('Creation time, in ISO 8601.'),
    issuer: text(`${PARTY} that created it.`),
    initiatedBy: text(`${PARTY} that requested it.`),
    type: text('`airtime`, `momo`, `credit`, `payment`, or another word.'),
    status: text(
      "The upstream's word, which may change later: `unpaid`, `paid`, `redeemed`, `failed`, `expired`, " +
        '`fraud`, `pending`, or another word, in any case. `GET /v1/payouts/{id}` shows its meaning.',
    ),
    valueInUSD: amount('Value in US dollars.'),
    credit: number('Value in credits: a thousand for each US dollar.'),
    fee: amount('Fee in US dollars.'),
    email: text('The recipient.'),
    phone: text('The recipient.'),
    phoneNumber: text('The recipient.'),
    twitter: text('The recipient.'),
    receiver: text(`${PARTY} that receives it.`),
    countryToSend: text('Country of the receiver.'),
    momoCode: text('Mobile money network.'),
    reference: text("The caller's reference."),
    enabledToRedeem: list({ type: 'string' }, 'Options for redeeming it.'),
    redeemLink: text('URL where the recipient redeems it.'),
    redeemData: free('Details of the redemption.'),
    payout: free("Data from the upstream's own provider."),
    integration: free('The app that created it: `appID`.'),
    meta: free("The caller's notes."),
  },
);

const PAYOUT = lenient("The telco's answer about one item.", {
  phoneNumber: text('The recipient.'),
  amount: text('Amount in local currency, with its code.'),
  status: text('`Sent`: handed to the telco, not delivered yet.'),
  requestId: text("The telco's ID."),
  errorMessage: text('`None` without an error.'),
});

const WALLET = lenient('A wallet.', {
  id: text('ID of the wallet.'),
  type: text('`chi`, `momo`, `airtime`, or another word.'),
  balance: amount('Balance in US dollars, as a binary fraction. Compare it with a tolerance.'),
  owner: text(`${PARTY} that owns it.`),
  transactions: list(ref('WalletEntry'), 'Its movements, newest first.'),
});

const WALLET_ENTRY = lenient('A movement of a wallet.', {
  amount: amount('Amount in US dollars. Negative if it left the wallet.'),
  balanceBefore: amount('Balance before it.'),
  newBalance: amount('Balance after it.'),
  description: text("The upstream's description."),
  meta: free('Its time: `date._seconds` and `date._nanoseconds`.'),
});

const SUB_ACCOUNT = lenient('A sub-account.', {
  id: text('ID of the sub-account.'),
  uid: text('Its user ID: the `receiver` of a transfer.', DOCUMENTED),
  name: text('Its name.'),
  parent: text(`${PARTY} that owns it.`),
  subAccount: flag('True.'),
  approved: flag('Whether it is approved.'),
  verified: flag('Whether it is verified.'),
  createdDate: text('Creation time, in ISO 8601.'),
  meta: free("The caller's notes."),
  wallets: list(ref('Wallet'), 'Its wallets, if any.'),
});

const TRANSFER = lenient('A transfer.', {
  sender: text(`${PARTY} that pays.`),
  receiver: text(`${PARTY} that receives.`),
  wallet: text('Name of the wallet.'),
  valueInUSD: amount('Value in US dollars.'),
  tnxID: text('ID of the transaction.'),
});

/** The error of an answer that claims success. */
export const ERROR_WORD = text('`None` on success. Any other text: the operation failed.');

const NO_RESULT = lenient('A success without a result.', { error: ERROR_WORD });

const ASSET = lenient('An option for redeeming a credit.', {
  name: text('Its name.'),
  img: text('URL of a picture.'),
  description: text('Description.'),
  code: text('Its code.'),
  type: text('Its type.'),
  available: flag('Whether it is currently available.'),
});

const MOBILE_MONEY_CODE = lenient('A mobile money network. Rows may repeat.', {
  name: text('Name of the network.'),
  country: text('Its country.'),
  code: text('The `momoCode` of items. Unique only within a country.', DOCUMENTED),
  provider: text('The provider behind it.'),
  manual: flag('Whether payouts are processed manually.'),
});

/** The telco's answers: a list, or an object keyed by item position. */
export const TELCO_PAYOUTS: Schema = {
  anyOf: [{ type: 'array', items: ref('TelcoPayout') }, free('By position, with `issueID`.')],
  description: "The telco's answers, as a list or by position.",
};

export const linkTo = (what: string, more: Schema = {}) => text(`Link to ${what}.`, more);
export const DOCUMENTED_LINK = linkTo('the payment of the request', DOCUMENTED);

export const data = (properties: Record<string, Schema>): Schema => ({
  type: 'object',
  properties,
  additionalProperties: true,
});

export const currencyData = (fields: { asked: string; currency: string; got: string }): Schema =>
  data({
    [fields.asked]: text('The amount of the request.'),
    [fields.currency]: text('The currency of the request.'),
    [fields.got]: number('The converted amount.'),
    validUntil: text('Expiry of the rate, in ISO 8601.'),
  });

/** The schemas shared by several answers, by name in the document. */
export const SHARED_ANSWER_PARTS: Readonly<Record<string, Schema>> = {
  Asset: ASSET,
  MobileMoneyCode: MOBILE_MONEY_CODE,
  NoResult: NO_RESULT,
  SubAccount: SUB_ACCOUNT,
  TelcoPayout: PAYOUT,
  Transaction: TRANSACTION,
  Transfer: TRANSFER,
  Wallet: WALLET,
  WalletEntry: WALLET_ENTRY,
};
