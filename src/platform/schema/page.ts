import { nullable, TEXT } from './fields';

/** Pages of lists. A page begins after the last row of the page before, so every page costs the same. */

/** The numbers of rows on a page. */
export interface PageSizes {
  usual: number;
  max: number;
}

export const PAGE: PageSizes = { usual: 50, max: 200 };
/** Of lists of small rows. */
export const LONG_PAGE: PageSizes = { usual: 100, max: 500 };

export const MAX_PAGE_TOKEN = 200;

export interface PageRequest {
  page_size?: number;
  page_token?: string;
}

export interface Page<Row> {
  rows: Row[];
  nextPageToken: string | null;
}

/** Describes the token of the next page. */
export const nextPageToken = () => nullable(TEXT, 'For `page_token`. Null on the last page.');

/** Returns the number of rows to read. One more row than the page shows whether there is another page. */
export function rowsToRead({ page_size: size }: PageRequest, { usual }: PageSizes = PAGE): number {
  return (size ?? usual) + 1;
}

/** Returns the ID that the page begins after. Undefined for the first page. */
export function idBefore({ page_token: token }: PageRequest): string | undefined {
  return token === undefined ? undefined : fromPageToken(token);
}

interface Paging<Row> {
  sizes?: PageSizes;
  /** The token of the page after a row. By default, it names the row's ID. */
  tokenOf?: (last: Row) => string;
}

/** @param rows at most as many as `rowsToRead` returns. */
export function toPage<Row extends { id: string }>(
  rows: Row[],
  request: PageRequest,
  { sizes = PAGE, tokenOf = ({ id }) => toPageToken(id) }: Paging<Row> = {},
): Page<Row> {
  const shown = rows.slice(0, rowsToRead(request, sizes) - 1);
  const last = shown.at(-1);
  return { rows: shown, nextPageToken: rows.length > shown.length && last ? tokenOf(last) : null };
}

/** Converts a UUID to a page token, which is short and does not invite changes. */
export function toPageToken(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

/** @returns undefined for text that is no token of an ID. */
export function fromPageToken(token: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{22}$/.test(token)) return undefined;
  const hex = Buffer.from(token, 'base64url').toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Makes the token of a list whose order needs more than an ID. The parts have no spaces. */
export function joinPageToken(parts: (string | number)[]): string {
  return Buffer.from(parts.join(' ')).toString('base64url');
}

export function splitPageToken(token: string): string[] {
  return Buffer.from(token, 'base64url').toString().split(' ');
}
