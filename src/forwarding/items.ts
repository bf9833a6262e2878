import { Decimal } from 'decimal.js';
import { Item } from '../journal/records';
import { OperationName, OPERATIONS } from './operations';

/** The fields that items of any operation have (interface.md, "Resources and their fields"). */
interface ItemFields {
  email?: string;
  twitter?: string;
  phoneNumber?: string;
  countryToSend?: string;
  momoCode?: string;
  reference?: string;
  valueInUSD?: number;
  receiver?: string;
  amount?: number;
  wallet?: string;
  chiRef?: string;
}

/** The items of a validated body, for the record. */
export function itemsOf(operation: OperationName, input: object | undefined): Item[] {
  const field = OPERATIONS[operation].items;
  if (field === 'none' || input === undefined) return [];
  if (field === 'the body') return [toItem(input)];
  return (input as Record<string, ItemFields[]>)[field]?.map(toItem) ?? [];
}

function toItem(fields: ItemFields): Item {
  const amount = fields.valueInUSD ?? fields.amount;
  const handle = fields.twitter || null; // empty beside an e-mail: there is none
  return {
    recipientField: recipientFieldOf(fields),
    handleIgnored: fields.email !== undefined && handle !== null,
    email: fields.email ?? null,
    phone: fields.phoneNumber ?? null,
    handle,
    amountUsd: amount === undefined ? null : new Decimal(amount),
    country: fields.countryToSend ?? null,
    networkCode: fields.momoCode ?? null,
    reference: fields.reference ?? null,
    receiver: fields.receiver ?? null,
    wallet: fields.wallet ?? null,
    chiRef: fields.chiRef ?? null,
  };
}

/** With an e-mail and a handle, the e-mail is used (interface.md, "Credit item", rule 2). */
function recipientFieldOf({ email, twitter, phoneNumber, receiver }: ItemFields): Item['recipientField'] {
  if (email) return 'email';
  if (twitter) return 'twitter';
  if (phoneNumber) return 'phoneNumber';
  return receiver ? 'receiver' : null;
}
