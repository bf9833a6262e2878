/** How a column's value is written; leaves.ts says how each. */
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
  /** When the database wrote it, by its own clock. */
  at: string;
  /** All but `tx`, which says nothing of what happened. */
  columns: Columns;
  /** Columns that came later. They stand only in the leaves of rows that have a value there: older leaves are without them. */
  added?: Columns;
  /** Rows of a table beside it that belong to the record; they bear its `intent_id`, and stand in their order in its leaf. */
  items?: { table: string; order: string; columns: Columns };
}

/** Who did it. */
export const AUTHOR: Columns = { client_id: 'uuid', key_id: 'uuid', actor: 'text' };

/** What every record says of a request. */
export const REQUEST: Columns = { ...AUTHOR, request_id: 'text', client_address: 'text' };
