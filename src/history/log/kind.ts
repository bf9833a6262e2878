/** How a column's value is written. leaves.ts defines each type. */
export type ColumnType =
  | 'text'
  | 'uuid'
  | 'boolean'
  | 'integer'
  | 'list'
  | 'bigint'
  | 'numeric'
  | 'json'
  | 'bytes'
  | 'date'
  | 'time';

export type Columns = Record<string, ColumnType>;

export interface Kind {
  /** The primary key. */
  key: string;
  /** The column with the time at which the database wrote the record, by its own clock. */
  at: string;
  /** All columns but `tx`, which has no meaning outside the database. Of a document, those that repeat a member of it. */
  columns: Columns;
  /** Whether the row has the text of its leaf, in the column `record`. */
  isDocument?: true;
}

/** The columns for the author of a record. */
export const AUTHOR: Columns = { client_id: 'uuid', key_id: 'uuid', actor: 'text' };

/** The columns for the request behind a record. */
export const REQUEST: Columns = { ...AUTHOR, request_id: 'text', client_address: 'text' };
