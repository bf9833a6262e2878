import { Client } from 'pg';
import { readableIn } from '../../platform/database/rows/stored-body';

/** A table of bytes that may name people, and the column of their call or access. */
export interface Source {
  table: string;
  key: string;
  bytes: string;
  /** The column with their coding. Undefined if they have none. */
  coding?: string;
  /** A text beside them that may name people, too. */
  text?: string;
}

/** Tables of bodies. */
export const BODIES = {
  intent_body: {
    table: 'intent_body',
    key: 'intent_id',
    bytes: "coalesce(body, '')",
    coding: 'coding',
    text: 'people',
  },
  outcome_body: { table: 'outcome_body', key: 'intent_id', bytes: 'body', coding: 'coding' },
  access_filters: { table: 'access_filters', key: 'access_id', bytes: 'filters' },
} as const satisfies Record<string, Source>;

export type BodyTable = keyof typeof BODIES;

/** Rows per read: few rows of large bodies, or many of small ones. */
const BATCH_ROWS = 2_000;
const BATCH_BYTES = 8 << 20;

interface BodyRow {
  id: string;
  bytes: Buffer;
  coding: string | null;
  text: string | null;
}

/**
 * Scans all rows of a table in batches.
 * @param seen receives the number of scanned rows.
 * @returns the IDs of the rows that pass `test`.
 */
export async function idsWhere(
  db: Client,
  { table, key, bytes: expression, coding = 'NULL', text = 'NULL' }: Source,
  test: (text: string) => boolean,
  seen: (rows: number) => void,
): Promise<string[]> {
  const found: string[] = [];
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    // Postgres knows the sizes without reading the bodies.
    const { rows } = await db.query<BodyRow>(
      `SELECT id, bytes, coding, text FROM (
         SELECT next.*, row_number() OVER w AS row, sum(octet_length(bytes)) OVER w AS total
         FROM (SELECT ${key} AS id, ${expression} AS bytes, ${coding} AS coding, ${text} AS text FROM ${table}
           WHERE ${key} > $1::uuid ORDER BY ${key} LIMIT $2) AS next
         WINDOW w AS (ORDER BY id)
       ) AS sized WHERE row = 1 OR total <= $3 ORDER BY id`,
      [after, BATCH_ROWS, BATCH_BYTES],
    );
    const last = rows.at(-1);
    if (!last) return found;
    found.push(...rows.filter((row) => test(textOf(row))).map(({ id }) => id));
    after = last.id;
    seen(rows.length);
  }
}

function textOf({ bytes, coding, text }: BodyRow): string {
  return (readableIn({ body: bytes, coding }) ?? bytes).toString('utf8') + (text ?? '');
}

/** Returns the number of rows to scan. */
export async function countBodies(db: Client): Promise<number> {
  const counts = Object.keys(BODIES).map((table) => `(SELECT count(*) FROM ${table})`);
  const { rows } = await db.query<{ count: string }>(`SELECT ${counts.join(' + ')} AS count`);
  return Number(rows[0]?.count ?? 0);
}
