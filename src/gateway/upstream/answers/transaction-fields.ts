/**
 * Fields of a transaction: our name and the upstream's (docs/reference/upstream.md, "Transaction record").
 */
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
