import { fromPageToken, isUuid, toPageToken } from '../../platform/database/uuid';

/** What a search lists: calls, or their payouts. */
export type Listed = 'calls' | 'items';

export const SORTS = ['time', 'amount'] as const;
export type Sort = (typeof SORTS)[number];

/** Where a page ended: the next one begins after it. */
export interface Cursor {
  id: string;
  /** Of the payout, where payouts are listed. */
  position?: number;
  /** US dollars, -1 for none, where the largest come first. */
  usd?: string;
}

const USD = /^(-1|\d{1,20}(\.\d{1,40})?)$/;
const MAX_POSITION = 2 ** 31 - 1;

/** The oldest form, of calls by time, is their id alone. */
const ID_ALONE = /^[A-Za-z0-9_-]{22}$/;

export function toToken(listed: Listed, sort: Sort, { id, position = -1, usd = '-1' }: Cursor): string {
  if (listed === 'calls' && sort === 'time') return toPageToken(id);
  return Buffer.from([listed, sort, toPageToken(id), position, usd].join(' ')).toString('base64url');
}

/** @returns undefined if this is no token of a page at all. */
export function fromToken(token: string): { listed: Listed; sort: Sort; cursor: Cursor } | undefined {
  if (ID_ALONE.test(token)) return { listed: 'calls', sort: 'time', cursor: { id: fromPageToken(token) } };
  const [listed, sort, id = '', position = '', usd = ''] = Buffer.from(token, 'base64url').toString().split(' ');
  const isListed = listed === 'calls' || listed === 'items';
  const isSort = sort === 'time' || sort === 'amount';
  if (!isListed || !isSort || !ID_ALONE.test(id) || !isUuid(fromPageToken(id)) || !USD.test(usd)) return undefined;
  if (!/^(-1|\d{1,10})$/.test(position) || Number(position) > MAX_POSITION) return undefined;
  return { listed, sort, cursor: { id: fromPageToken(id), position: Number(position), usd } };
}
