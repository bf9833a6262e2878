/**
 * The value that the database replaces by its own time (`stampedSql`). Quotes within a JSON
 * string are escaped, so no text of a caller can look like this member.
 */
export const UNSTAMPED = '';

/** SQL that writes the database's time into a record. */
export const stampedSql = (record: string, time: string) =>
  `replace(${record}, '"recorded_at":""', '"recorded_at":"' || to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '"')`;

/** The member that always follows `items`. */
const AFTER_ITEMS = { intent: 'key_id', outcome: 'kind' };

/** SQL for the array `items` of a record, empty without one. To parse the whole record first takes twice as long. */
export const itemsSql = (table: 'intent' | 'outcome', record: string) =>
  `split_part(split_part(${record}, '"items":', 2), ',"${AFTER_ITEMS[table]}":', 1)`;
