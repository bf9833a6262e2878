import { fromPageToken, joinPageToken, splitPageToken, toPageToken } from '../../platform/schema/page';

/** What a search lists: calls, or their payouts. */
export type Listed = 'calls' | 'items';

export const SORTS = ['time', 'amount'] as const;
export type Sort = (typeof SORTS)[number];

/** The last result of a page. The next page begins after it. */
export interface Cursor {
  id: string;
  /** The position of the payout, in a list of payouts. */
  position?: number;
  /** The amount in US dollars when sorted by amount. -1 for none. */
  usd?: string;
}

const USD = /^(-1|\d{1,20}(\.\d{1,40})?)$/;
const MAX_POSITION = 2 ** 31 - 1;

/** A list of calls by time uses the call ID alone as its token. */
export function toToken(listed: Listed, sort: Sort, { id, position = -1, usd = '-1' }: Cursor): string {
  const isIdEnough = listed === 'calls' && sort === 'time';
  return isIdEnough ? toPageToken(id) : joinPageToken([listed, sort, toPageToken(id), position, usd]);
}

/** @returns undefined for text that is no page token. */
export function fromToken(token: string): { listed: Listed; sort: Sort; cursor: Cursor } | undefined {
  const callId = fromPageToken(token);
  if (callId) return { listed: 'calls', sort: 'time', cursor: { id: callId } };
  const [listed, sort, idToken = '', position = '', usd = ''] = splitPageToken(token);
  const id = fromPageToken(idToken);
  const isListed = listed === 'calls' || listed === 'items';
  const isSort = sort === 'time' || sort === 'amount';
  if (!isListed || !isSort || !id || !USD.test(usd)) return undefined;
  if (!/^(-1|\d{1,10})$/.test(position) || Number(position) > MAX_POSITION) return undefined;
  return { listed, sort, cursor: { id, position: Number(position), usd } };
}
