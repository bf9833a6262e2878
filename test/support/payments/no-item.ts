import { Item } from '../../../src/operations/items/item';

/** An item without any known value. */
export const NO_ITEM: Item = {
  recipientField: null,
  handleIgnored: false,
  email: null,
  phone: null,
  handle: null,
  amountUsd: null,
  country: null,
  networkCode: null,
  reference: null,
  receiver: null,
  wallet: null,
  upstreamRef: null,
};
