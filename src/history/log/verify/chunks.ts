import { ClientBase, CustomTypesConfig } from 'pg';
import { KIND_NAMES, KindName, kindOf } from '../kinds';
import { leafSql } from '../leaves';
import { LogFault, placeOf } from './fault';

/** One row of the log, as stored in the database. */
export type LeafRow = [index: string, kind: KindName, recordId: string, hash: string];

/** A record as Postgres writes it, and the state of the people's data beside it. All values are text. */
export type RecordRow = [
  index: string,
  /** Seconds since 1970, by the database's clock. */
  at: string,
  leaf: string,
  /** `missing`, `changed`, or `unknown` (nothing commits to it). Null if it matches the record. */
  body: string | null,
  hasBody: string | null,
  /** The same for recipients, by position: `0:missing,2:changed`. */
  recipients: string | null,
  items: string | null,
  recipientRows: string | null,
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

const STATE = (commitment: string, row: string, value: string) => `CASE
  WHEN ${commitment} IS NULL THEN CASE WHEN ${row} IS NOT NULL THEN 'unknown' END
  WHEN ${row} IS NULL THEN 'missing'
  WHEN pg_catalog.octet_length(b.salt) <> ${SALT_BYTES} OR pg_catalog.sha256(b.salt || ${value}) <> ${commitment} THEN 'changed' END`;

/** Compares a value with its commitment. Both may be null. */
const FITS = (value: string, commitment: string) =>
  `pg_catalog.sha256(r.salt || pg_catalog.convert_to(r.${value}, 'UTF8')) IS NOT DISTINCT FROM n.${commitment}`;

/**
 * The committed data of each kind, its place, and whether it matches. Postgres hashes it, because bodies may be large.
 */
const PEOPLE: Partial<Record<KindName, { columns: string; joins: string }>> = {
  intent: {
    columns: `${STATE('t.body_commitment', 'b.intent_id', 'b.body')}, (b.intent_id IS NOT NULL)::int, p.wrong, p.items, p.rows`,
    joins: `LEFT JOIN public.intent_body b ON b.intent_id = t.id CROSS JOIN LATERAL (
      SELECT count(*) AS items, count(r.position) AS rows, string_agg(CASE
        WHEN r.position IS NULL AND coalesce(n.email_commitment, n.phone_commitment, n.handle_commitment) IS NOT NULL THEN n.position || ':missing'
        WHEN r.position IS NOT NULL AND NOT (pg_catalog.octet_length(r.salt) = ${SALT_BYTES} AND ${FITS('email', 'email_commitment')} AND ${FITS('phone', 'phone_commitment')} AND ${FITS('handle', 'handle_commitment')}) THEN n.position || ':changed'
        END, ',' ORDER BY n.position) AS wrong
      FROM public.intent_item n LEFT JOIN public.item_recipient r ON r.intent_id = n.intent_id AND r.position = n.position
      WHERE n.intent_id = t.id) p`,
  },
  outcome: {
    columns: `${STATE('t.body_commitment', 'b.intent_id', 'b.body')}, (b.intent_id IS NOT NULL)::int, NULL, NULL, NULL`,
    joins: 'LEFT JOIN public.outcome_body b ON b.intent_id = t.intent_id',
  },
  access: {
    columns: `${STATE('t.filters_commitment', 'b.access_id', 'b.filters')}, (b.access_id IS NOT NULL)::int, NULL, NULL, NULL`,
    joins: 'LEFT JOIN public.access_filters b ON b.access_id = t.id',
  },
};

const RANGE = 'l.index >= $1 AND l.index < $2';

const LEAVES = `SELECT l.index, l.kind, l.record_id, encode(l.hash, 'hex') FROM public.log_leaf l WHERE ${RANGE} ORDER BY l.index`;

const RECORDS = new Map(KIND_NAMES.map((name) => [name, recordsSql(name)]));

function recordsSql(name: KindName): string {
  const { key, at } = kindOf(name);
  const { columns, joins } = PEOPLE[name] ?? { columns: 'NULL, NULL, NULL, NULL, NULL', joins: '' };
  return `SELECT l.index, date_part('epoch', t.${at}), ${leafSql(name, 't')}, ${columns}
    FROM public.log_leaf l JOIN public.${name} t ON t.${key} = l.record_id ${joins}
    WHERE ${RANGE} AND l.kind = '${name}'`;
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
