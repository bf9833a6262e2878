/** Fields of a transaction: ours and the upstream's (docs/reference/upstream.md, "Transaction record"). */
export const TRANSACTION_FIELDS = {
  upstream_ref: 'chiRef',
  upstream_id: 'id',
  batch_ref: 'issueID',
  issued_at: 'issueDate',
  type: 'type',
  status: 'status',
  amount_usd: 'valueInUSD',
  fee_usd: 'fee',
  email: 'email',
  phone: 'phoneNumber',
  handle: 'twitter',
  receiver: 'receiver',
  country: 'countryToSend',
  network_code: 'momoCode',
  reference: 'reference',
} as const;

export type TransactionField = keyof typeof TRANSACTION_FIELDS;

/**
 * The field for callers' own values, which the upstream returns. Callers choose its names and structure, and
 * may name a person.
 */
export const FREE_FORM = 'meta';

/**
 * The fields of bodies that never name a person. All others are masked, because the upstream may add fields
 * at any time.
 */
export const SHOWN_FIELDS: ReadonlySet<string> = new Set([
  'valueInUSD',
  'amount',
  'currency',
  'wallet',
  'countryToSend',
  'country',
  'momoCode',
  'reference',
  'receiver',
  'chiRef',
  'id',
  'issueID',
  'tnxID',
  'requestId',
  'issueDate',
  'type',
  'code',
  'tx_ref',
  'walletID',
  'originCurrency',
  'amountInOriginCurrency',
  'destinationCurrency',
  'amountInDestinationCurrency',
  'amountInUSD',
  'validUntil',
]);

/** The fields with the upstream's sentences. A sentence may contain a contact. */
export const PROSE_FIELDS: ReadonlySet<string> = new Set(['status', 'error', 'errorMessage']);

/** The fields with amounts of money. Any other number may be a phone number. */
export const NUMBER_FIELDS: ReadonlySet<string> = new Set([
  'credit',
  'fee',
  'balance',
  'balanceBefore',
  'newBalance',
]);
