import { fromPageToken, toPageToken } from '../../platform/database/uuid';

export const USUAL_PAGE = 50;
export const MAX_PAGE = 200;

/** How to ask for a page, newest first. It costs the same however deep it lies, for it begins where the last one ended. */
export interface PageRequest {
  page_size?: number;
  page_token?: string;
}

export interface Page<Row> {
  rows: Row[];
  nextPageToken: string | null;
}

/** How many rows to read: one more than are shown tells whether there is another page. */
export function rowsToRead({ page_size: size = USUAL_PAGE }: PageRequest): number {
  return size + 1;
}

/** The id below which the page's rows stand, if it is not the first one. */
export function idBefore({ page_token: token }: PageRequest): string | undefined {
  return token === undefined ? undefined : fromPageToken(token);
}

/** @param rows as many as `rowsToRead` says, if there are so many. */
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
