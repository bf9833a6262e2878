const timeOf = (id: string) => `('x' || translate(left(${id}::text, 13), '-', ''))::bit(48)::bigint`;

/**
 * Gives each leaf a separate row, as the owner of the database. `first` is then its index, `ids[1]` its
 * record, and `hashes` its hash.
 */
export const SPLIT_LEAVES = [
  'CREATE TEMP TABLE split ON COMMIT DROP AS SELECT * FROM audit.leaves',
  'DELETE FROM log_leaves',
  `INSERT INTO log_leaves (first, kind, span, ids, hashes)
   SELECT index, kind, int8range(${timeOf('record_id')}, ${timeOf('record_id')}, '[]'), ARRAY[record_id], hash
     FROM split`,
];

/** Sets the span of each row to that of its IDs. */
export const SET_SPANS = `UPDATE log_leaves SET span = int8range(${timeOf('ids[1]')},
  ${timeOf('ids[cardinality(ids)]')}, '[]')`;

/** Changes the hash of a leaf. */
export function changeLeaf(index: number): string {
  return `UPDATE log_leaves SET hashes = overlay(hashes PLACING sha256('x')
    FROM (${index} - first)::integer * 32 + 1)
    WHERE first <= ${index} AND ${index} < first + cardinality(ids)`;
}
