import { fromPageToken, toPageToken } from '../../platform/database/uuid';

export const USUAL_PAGE = 50;
export const MAX_PAGE = 200;

/** A request for a page, newest first. A page begins where the last one ended, so every page costs the same. */
export interface PageRequest {
  page_size?: number;
  page_token?: string;
}

export interface Page<Row> {
  rows: Row[];
  nextPageToken: string | null;
}

/** Returns the number of rows to read. One more row than the page shows whether there is another page. */
export function rowsToRead({ page_size: size = USUAL_PAGE }: PageRequest): number {
  return size + 1;
}

/** Returns the ID that the page begins after. Undefined for the first page. */
export function idBefore({ page_token: token }: PageRequest): string | undefined {
  return token === undefined ? undefined : fromPageToken(token);
}

/** @param rows at most as many as `rowsToRead` says. */
export function toPage<Row extends { id: string }>(rows: Row[], request: PageRequest): Page<Row> {
  const shown = rows.slice(0, rowsToRead(request) - 1);
  const last = shown.at(-1);
  return { rows: shown, nextPageToken: rows.length > shown.length && last ? toPageToken(last.id) : null };
}

/** A payout, or a call as a whole. */
export interface Place {
  id: string;
  position: number | null;
}
