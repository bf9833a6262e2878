import { createHash } from 'node:crypto';
import { Prisma } from '../../platform/database/generated/client';

/**
 * The rows of a read and the matches of a run are evidence for later readers. The record of the end has the
 * SHA-256 of the row hashes, in order. `audit verify` recomputes it.
 */

/** A table of evidence. */
export interface EvidenceTable {
  /** Column of the read's or run's ID. */
  owner: string;
  /** Sort columns of an owner's rows. */
  order: string[];
  /** Other columns that cannot be erased, each as text. */
  columns: string[];
  /** Groups of columns that are erased together. Each group has a salted commitment in the row. */
  erasable: readonly ErasableColumns[];
}

/** Columns that may name a person. The row also has `<name>_salt` and `<name>_commitment`. */
export interface ErasableColumns {
  name: string;
  columns: readonly string[];
}

export const RECIPIENT: ErasableColumns = { name: 'recipient', columns: ['email', 'phone', 'handle'] };
export const RECEIVER: ErasableColumns = { name: 'receiver', columns: ['receiver'] };
export const REFERENCE: ErasableColumns = { name: 'reference', columns: ['reference'] };

export const READ_TABLES = {
  upstream_transaction: {
    owner: 'read_id',
    order: ['ordinal'],
    columns: [
      'upstream_ref',
      'upstream_id',
      'batch_ref',
      'issued_at',
      'type',
      'status',
      'amount_usd',
      'fee_usd',
      'country',
      'network_code',
    ],
    erasable: [RECIPIENT, RECEIVER, REFERENCE],
  },
  upstream_wallet: { owner: 'read_id', order: ['wallet_id'], columns: ['type', 'balance'], erasable: [] },
  upstream_wallet_entry: {
    owner: 'read_id',
    order: ['wallet_id', 'ordinal'],
    columns: ['amount', 'balance_before', 'new_balance', 'description', 'entered_at'],
    erasable: [],
  },
  statement_fault: { owner: 'read_id', order: ['line'], columns: ['reason'], erasable: [] },
} as const satisfies Record<string, EvidenceTable>;

export const RUN_TABLES = {
  reconciliation_match: {
    owner: 'run_id',
    order: ['call_id', 'position'],
    columns: ['read_id', 'ordinal', 'rule', 'certainty'],
    erasable: [],
  },
} as const satisfies Record<string, EvidenceTable>;

/**
 * Salt length in bytes (platform/privacy/commitment.ts). At another length, a salt could swallow the first
 * bytes of a value.
 */
const SALT_BYTES = 16;

/** SQL for the commitment to unerased columns. */
export function commitmentSql({ name, columns }: ErasableColumns): string {
  return `sha256(${name}_salt || convert_to(json_build_array(${columns.join(', ')})::text, 'UTF8'))`;
}

/** Uses the stored commitment for erased columns only. */
function committedSql(erasable: ErasableColumns): string {
  const { name, columns } = erasable;
  const [salt, commitment] = [`${name}_salt`, `${name}_commitment`];
  return `CASE WHEN num_nonnulls(${[salt, ...columns].join(', ')}) = 0 THEN encode(${commitment}, 'hex')
    WHEN octet_length(${salt}) = ${SALT_BYTES}
      AND ${commitment} IS NULL THEN encode(${commitmentSql(erasable)}, 'hex') ELSE 'unreadable' END`;
}

/** Writes an instant as seconds since 1970, equal in every session and era. */
const textSql = (column: string) =>
  column.endsWith('_at') ? `extract(epoch FROM ${column})::text` : `${column}::text`;

/** SQL for the hash of a row. */
function rowHashSql({ order, columns, erasable }: EvidenceTable): string {
  const texts = [...order, ...columns].map(textSql);
  return (
    `sha256(convert_to(json_build_array(${[...texts, ...erasable.map(committedSql)].join(', ')})::text, ` +
    `'UTF8'))`
  );
}

const orderSql = ({ order }: EvidenceTable) =>
  order.map((column) => (column === 'wallet_id' ? `${column} COLLATE "C"` : column)).join(', ');

/** SQL for the hash of an owner's rows, as an aggregate in hex. Null without rows. */
export function evidenceHashSql(table: EvidenceTable): string {
  return `encode(sha256(string_agg(${rowHashSql(table)}, '' ORDER BY ${orderSql(table)})), 'hex')`;
}

/** SQL for the hashes of an owner's rows as JSON, by table. Omits tables without rows. */
export function evidenceSql(tables: Record<string, EvidenceTable>, owner: string): string {
  const hashes = Object.entries(tables).map(
    ([name, table]) =>
      `SELECT '${name}' AS name, ${evidenceHashSql(table)} AS hash FROM ${name}
        WHERE ${table.owner} = ${owner}`,
  );
  return `(SELECT coalesce(json_object_agg(name, hash ORDER BY name), '{}')
    FROM (${hashes.join(' UNION ALL ')}) AS t WHERE hash IS NOT NULL)`;
}

/** Transactions per statement. A statement takes some tenths of a second. */
const PAGE = 20_000;

const { upstream_transaction: TRANSACTIONS, ...OTHER_TABLES } = READ_TABLES;

const OTHERS = `SELECT ${evidenceSql(OTHER_TABLES, '$1::uuid')} AS evidence`;

const NEXT_TRANSACTIONS = `
  SELECT string_agg(${rowHashSql(TRANSACTIONS)}, '' ORDER BY ordinal) AS hashes, max(ordinal) AS last
  FROM (
    SELECT * FROM upstream_transaction WHERE read_id = $1::uuid AND ordinal > $2::bigint
    ORDER BY ordinal LIMIT ${PAGE}) AS t`;

/** Returns the hashes of a read's rows as JSON. Hashes them in pages: a read may keep a million. */
export async function evidenceOf(prisma: Prisma.TransactionClient, readId: string): Promise<string> {
  const [others] = await prisma.$queryRawUnsafe<[{ evidence: object }]>(OTHERS, readId);
  const hash = createHash('sha256');
  let last: bigint | null = -1n;
  let any = false;
  while (last !== null) {
    const [page]: [{ hashes: Uint8Array | null; last: bigint | null }] = await prisma.$queryRawUnsafe(
      NEXT_TRANSACTIONS,
      readId,
      last,
    );
    ({ last } = page);
    if (page.hashes === null) break;
    any = true;
    hash.update(page.hashes);
  }
  return JSON.stringify({ ...others.evidence, ...(any && { upstream_transaction: hash.digest('hex') }) });
}
