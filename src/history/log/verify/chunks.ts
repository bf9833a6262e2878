import { ClientBase, CustomTypesConfig } from 'pg';
import { ColumnType, KIND_NAMES, KindName, kindOf } from '../kinds';
import { leafSql } from '../leaves';
import { LogFault, placeOf } from './fault';

/** One row of the log, as stored in the database. */
export type LeafRow = [index: string, kind: KindName, recordId: string, hash: string];

/** A record as Postgres writes it, and what stands beside it. All values are text. */
export type RecordRow = [
  index: string,
  /** Seconds since 1970, by the database's clock. */
  at: string,
  leaf: string,
  /** Whether a row stands beside it, `1` or `0`. */
  hasBody: string,
  /** SHA-256(salt || body), hex. Empty if the salt has a wrong length. Null without a body. */
  bodyHash: string | null,
  /** JSON of `PersonDocument[]`. */
  people: string | null,
  /** The columns of a document, in the order of its kind. */
  ...columns: (string | null)[],
];

/** Neighboring leaves with everything that belongs to them. */
export interface Chunk {
  from: number;
  leaves: LeafRow[];
  /** Records by the index of their leaf. A leaf without an entry has lost its record. */
  records: Map<string, RecordRow>;
  /** The checkpoints that end within the chunk. */
  checkpoints: { size: number; root: string; note: string; sealedAt: string; completeUntil: string | null }[];
  /** Hashes of the nodes that end within the chunk, by `level/index`. */
  nodes: Map<string, string>;
}

/** Returns rows as Postgres sends them, without parsing values before they are needed. */
const RAW: CustomTypesConfig = { getTypeParser: () => (text: unknown) => text };

/**
 * Bytes of every salt (journal/commitment.ts). With another length, a salt could swallow the first bytes of a value.
 */
const SALT_BYTES = 16;

/** The tables of the data that a kind commits to. Postgres hashes bodies, because they may be large. */
const BESIDE: Partial<Record<KindName, { table: string; key: string; body: string; people?: true }>> = {
  intent: { table: 'intent_body', key: 'intent_id', body: 'body', people: true },
  outcome: { table: 'outcome_body', key: 'intent_id', body: 'body' },
  access: { table: 'access_filters', key: 'access_id', body: 'filters' },
};

const RANGE = 'l.index >= $1 AND l.index < $2';

const LEAVES = `SELECT l.index, l.kind, l.record_id, encode(l.hash, 'hex') FROM public.log_leaf l WHERE ${RANGE} ORDER BY l.index`;

const RECORDS = new Map(KIND_NAMES.map((name) => [name, recordsSql(name)]));

function recordsSql(name: KindName): string {
  const { key, at, columns, isDocument } = kindOf(name);
  const beside = BESIDE[name];
  const copies = Object.entries(isDocument ? columns : {}).map(([column, type]) => copySql(`t.${column}`, type));
  const selected = [
    'l.index',
    `date_part('epoch', t.${at})`,
    leafSql(name, 't'),
    ...(beside ? besideSql(beside) : ['0', 'NULL', 'NULL']),
    ...copies,
  ];
  const join = beside ? `LEFT JOIN public.${beside.table} b ON b.${beside.key} = t.${key}` : '';
  return `SELECT ${selected.join(', ')} FROM public.log_leaf l JOIN public.${name} t ON t.${key} = l.record_id ${join}
    WHERE ${RANGE} AND l.kind = '${name}'`;
}

function besideSql({ key, body, people }: NonNullable<(typeof BESIDE)[KindName]>): string[] {
  return [
    `(b.${key} IS NOT NULL)::int`,
    `CASE WHEN pg_catalog.octet_length(b.salt) = ${SALT_BYTES} THEN encode(pg_catalog.sha256(b.salt || b.${body}), 'hex')
      WHEN b.${body} IS NOT NULL THEN '' END`,
    people ? 'b.people' : 'NULL',
  ];
}

/** A column of a document in the form of its member. */
function copySql(column: string, type: ColumnType): string {
  return type === 'time' ? `${column} AT TIME ZONE 'UTC'` : column;
}

const UTC = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const CHECKPOINTS = `
  SELECT c.size, encode(c.root, 'hex'), c.note, ${UTC('c.sealed_at')}, ${UTC('c.complete_until')} FROM public.checkpoint c
  WHERE c.size > $1 AND c.size <= $2 ORDER BY c.size`;

/** Nodes of all levels. (index + 1) * 2^level is the end of a node's leaves. */
const NODES = `
  SELECT n.level, n.index, encode(n.hash, 'hex') FROM unnest(ARRAY[8, 16, 24, 32, 40]::smallint[]) v (level)
  JOIN public.log_node n ON n.level = v.level AND n.index >= $1::bigint / (1::bigint << v.level) AND n.index < $2::bigint / (1::bigint << v.level)`;

/** Reads the leaves [from, to), their records, and the checkpoints and nodes that end among them. */
export async function readChunk(client: ClientBase, from: number, to: number): Promise<Chunk> {
  const rows = <Row extends unknown[]>(name: string, text: string) => rawRows<Row>(client, name, text, [from, to]);
  const leaves = await rows<LeafRow>('leaves', LEAVES);
  const records = new Map<string, RecordRow>();
  for (const kind of new Set(leaves.map(([, name]) => name))) {
    const sql = RECORDS.get(kind);
    for (const row of sql ? await rows<RecordRow>(kind, sql) : []) {
      if (records.has(row[0])) throw twice(kind, leaves[Number(row[0]) - from]?.[2] ?? '', Number(row[0]));
      records.set(row[0], row);
    }
  }
  const checkpoints = await rows<[string, string, string, string, string | null]>('checkpoints', CHECKPOINTS);
  const nodes = await rows<[string, string, string]>('nodes', NODES);
  return {
    from,
    leaves,
    records,
    checkpoints: checkpoints.map(([size, root, note, sealedAt, completeUntil]) => ({
      size: Number(size),
      root,
      note,
      sealedAt,
      completeUntil,
    })),
    nodes: new Map(nodes.map(([level, index, hash]) => [`${level}/${index}`, hash])),
  };
}

/** Reports a duplicate. A table owner can drop a primary key. */
function twice(kind: KindName, id: string, leaf: number): LogFault {
  const meaning =
    'The record, its body, or its filters exist twice, but only one of them was sealed. Somebody added the other.';
  return new LogFault('record_twice', meaning, placeOf(kind, id, leaf));
}

async function rawRows<Row extends unknown[]>(client: ClientBase, name: string, text: string, values: number[]) {
  const { rows } = await client.query<Row>({ name: `verify_${name}`, text, values, rowMode: 'array', types: RAW });
  return rows;
}
