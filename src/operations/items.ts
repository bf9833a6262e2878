import { Decimal } from 'decimal.js';
import { Item } from './item';
import { OperationName, OperationRow, rowOf } from './operations';

/** The fields that items of any operation have (interface.md, "Resources and their fields"; upstream-observed.md). */
interface ItemFields {
  email?: string;
  twitter?: string;
  phoneNumber?: string;
  phone_number?: string;
  countryToSend?: string;
  country?: string;
  momoCode?: string;
  reference?: string;
  tx_ref?: string;
  valueInUSD?: number;
  receiver?: string;
  amount?: number;
  wallet?: string;
  chiRef?: string;
}

/** The items of a validated body, for the record. People's names are no field of it: they stay in the body. */
export function itemsOf(operation: OperationName, input: object | undefined): Item[] {
  const row = rowOf(operation);
  if (row.items === 'none' || input === undefined) return [];
  if (row.items === 'the body') return [toItem(input, row)];
  return (input as Record<string, ItemFields[]>)[row.items]?.map((fields) => toItem(fields, row)) ?? [];
}

/** Where in a body a field of an item is, as a JSON pointer (RFC 6901), by the item's place. */
export function pointerIn(operation: OperationName): (place: number, field: string) => string {
  const { items } = rowOf(operation);
  return (place, field) => (items === 'the body' ? `/${field}` : `/${items}/${place}/${field}`);
}

/** The field that says what an item is worth. */
export function amountFieldOf(operation: OperationName): 'amount' | 'valueInUSD' | 'chiRef' {
  if (rowOf(operation).moves === 'the named transaction') return 'chiRef';
  return operation === 'POST /account/transfer' ? 'amount' : 'valueInUSD';
}

function toItem(fields: ItemFields, { pays }: OperationRow): Item {
  const amount = pays === 'nobody' ? undefined : (fields.valueInUSD ?? fields.amount);
  const handle = fields.twitter || null; // empty beside an e-mail: there is none
  return {
    recipientField: pays === 'nobody' ? null : recipientFieldOf(fields),
    handleIgnored: fields.email !== undefined && handle !== null,
    email: fields.email ?? null,
    phone: fields.phoneNumber ?? fields.phone_number ?? null,
    handle,
    amountUsd: amount === undefined ? null : new Decimal(amount),
    country: fields.countryToSend ?? fields.country ?? null,
    networkCode: fields.momoCode ?? null,
    reference: fields.reference ?? fields.tx_ref ?? null,
    receiver: fields.receiver ?? null,
    wallet: fields.wallet ?? null,
    upstreamRef: fields.chiRef ?? null,
  };
}

/** With an e-mail and a handle, the e-mail is used (interface.md, "Credit item", rule 2). */
function recipientFieldOf({ email, twitter, phoneNumber, receiver }: ItemFields): Item['recipientField'] {
  if (email) return 'email';
  if (twitter) return 'twitter';
  if (phoneNumber) return 'phoneNumber';
  return receiver ? 'receiver' : null;
}
