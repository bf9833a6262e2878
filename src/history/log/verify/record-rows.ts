import { ClientBase } from 'pg';
import { readableIn } from '../../../platform/database/rows/stored-body';
import { commitment } from '../../../platform/privacy/commitment';
import { Form, KindName, kindOf, leafSql } from '../kinds';
import { HASH_BYTES } from '../merkle';
import { Cursor, rowsOf } from './cursor';
import { leavesChanged, timeOfId } from './fault';

/** A record in Postgres' text format, with its related rows. */
export type RecordRow = [
  id: string,
  /** Seconds since 1970, by the database's clock. */
  at: string | null,
  leaf: string,
  /** `1` if the record has a body row, else `0`. */
  hasBody: string,
  /**
   * SHA-256(salt || body), hex. Empty if the salt has a wrong length. Null without a body. For a compressed
   * body, its `coding:salt:body` in hex and base64: see {@link hashOfBody}.
   */
  body: string | null,
  /** SHA-256(salt || idempotency key), hex. Empty if the salt has a wrong length. Null without a salt. */
  keyHash: string | null,
  /** The salt of its recipients in hex, a colon, and JSON of `PersonDocument[]`. Null without any. */
  people: string | null,
  /** SHA-256(salt || name) of the requester, hex. Empty if the salt has a wrong length. Null if erased. */
  actorHash: string | null,
  /** The columns of a document, in the order of its kind. */
  ...columns: (string | null)[],
];

/** Size of salts in bytes (platform/privacy/commitment.ts). A longer salt could include part of a value. */
const SALT_BYTES = 16;

/** Related rows of the records of a kind. */
interface RelatedTable {
  table: string;
  key: string;
  /** Column that the record commits to. */
  body?: { column: string; member: string; coding?: string };
  /** Columns of the idempotency key and its salt, for the member `idempotency_key_commitment`. */
  idempotencyKey?: { column: string; salt: string };
}

export const RELATED_TABLES: Partial<Record<KindName, RelatedTable>> = {
  intent: {
    table: 'intent_body',
    key: 'intent_id',
    body: { column: 'body', member: 'body_commitment', coding: 'coding' },
    idempotencyKey: { column: 'idempotency_key', salt: 'idempotency_key_salt' },
  },
  outcome: {
    table: 'outcome_body',
    key: 'intent_id',
    body: { column: 'body', member: 'body_commitment', coding: 'coding' },
  },
  refusal: { table: 'refusal_key', key: 'refusal_id', idempotencyKey: { column: 'key', salt: 'salt' } },
  access: {
    table: 'access_filters',
    key: 'access_id',
    body: { column: 'filters', member: 'filters_commitment' },
  },
};

/** Kinds whose records commit to the name of a person. */
const OF_PERSONS: ReadonlySet<KindName> = new Set(['intent', 'refusal']);

/** Records per page, which takes some ten milliseconds. */
const PAGE = 512;

/** Reads all records of a kind, by ID. */
export function recordsOf(client: ClientBase, name: KindName): Promise<Cursor<RecordRow>> {
  const { key, at, columns, isDocument } = kindOf(name);
  const related = RELATED_TABLES[name];
  const copies = Object.entries(isDocument ? columns : {}).map(([column, form]) =>
    copySql(`t.${column}`, form),
  );
  const selected = [
    `t.${key}`,
    `date_part('epoch', t.${at})`,
    leafSql(name, 't'),
    ...(related ? relatedSql(related) : ['0', 'NULL', 'NULL', 'NULL']),
    OF_PERSONS.has(name) ? hashSql('w.salt', "convert_to(w.name, 'UTF8')", 'w.salt') : 'NULL',
    ...copies,
  ];
  const joins = [
    related ? `LEFT JOIN public.${related.table} b ON b.${related.key} = t.${key}` : '',
    OF_PERSONS.has(name) ? 'LEFT JOIN public.person w ON w.id = t.person_id' : '',
  ];
  const sql = `SELECT ${selected.join(', ')} FROM public.${name} t ${joins.join(' ')} ORDER BY t.${key}`;
  return Cursor.open<RecordRow>(client, name, sql, PAGE);
}

/** Returns the columns of related rows. Postgres hashes bodies that are not compressed. */
function relatedSql({ table, key, body, idempotencyKey }: RelatedTable): string[] {
  return [
    `(b.${key} IS NOT NULL)::int`,
    body ? bodySql(body) : 'NULL',
    idempotencyKey
      ? hashSql(
          `b.${idempotencyKey.salt}`,
          `convert_to(b.${idempotencyKey.column}, 'UTF8')`,
          `b.${idempotencyKey.salt}`,
        )
      : 'NULL',
    table === 'intent_body' ? "encode(coalesce(b.people_salt, ''), 'hex') || ':' || b.people" : 'NULL',
  ];
}

function bodySql({ column, coding }: NonNullable<RelatedTable['body']>): string {
  const plain = hashSql('b.salt', `b.${column}`, `b.${column}`);
  if (coding === undefined) return plain;
  return `CASE WHEN b.${coding} IS NULL OR pg_catalog.octet_length(b.salt) <> ${SALT_BYTES} THEN ${plain}
    ELSE concat_ws(':', b.${coding}, encode(b.salt, 'hex'), encode(b.${column}, 'base64')) END`;
}

/** Returns SHA-256(salt || body), hex. Empty for a body without meaning. */
export function hashOfBody(column: string | null): string | null {
  if (!column?.includes(':')) return column;
  const [coding = '', salt = '', bytes = ''] = column.split(':');
  const body = readableIn({ body: Buffer.from(bytes, 'base64'), coding });
  return body === null ? '' : commitment(Buffer.from(salt, 'hex'), body).toString('hex');
}

/** @param present the column that has a value unless the content was erased. */
function hashSql(salt: string, content: string, present: string): string {
  const hash = `encode(pg_catalog.sha256(${salt} || ${content}), 'hex')`;
  return `CASE WHEN pg_catalog.octet_length(${salt}) = ${SALT_BYTES} THEN ${hash}
    WHEN ${present} IS NOT NULL THEN '' END`;
}

/** A column of a document in the form of its member. */
function copySql(column: string, form: Form): string {
  return form === 'time' ? `${column} AT TIME ZONE 'UTC'` : column;
}

/** A row of log_leaves with the times of its checkpoints, in seconds since 1970. */
export interface Leaves {
  /** Index of the first leaf. */
  first: number;
  /** Time of the first ID, in ms. */
  from: number;
  ids: string[];
  /** Concatenated, hex. */
  hashes: string;
  /** Number of leaves whose records were checked, or may be missing. */
  done: number;
  /** Time before which all records are in earlier leaves. */
  completeUntil: number;
  sealedAt: number;
}

type LeavesRow = [
  first: string,
  low: string,
  high: string,
  ids: string,
  hashes: string,
  completeUntil: string | null,
  sealedAt: string | null,
];

/** Rows per page. A row has up to 5,000 leaves. */
const LEAVES_PAGE = 64;

/**
 * Reads the leaves of a kind, in the order of their first IDs.
 * @param size number of signed leaves.
 */
export async function* leavesOf(
  client: ClientBase,
  kind: KindName,
  size: number,
): AsyncGenerator<Leaves, undefined> {
  const sql = `
    SELECT l.first, lower(l.span), upper(l.span), l.ids, encode(l.hashes, 'hex'),
      (SELECT date_part('epoch', c.complete_until) FROM public.checkpoint c
        WHERE c.size <= l.first ORDER BY c.size DESC LIMIT 1),
      (SELECT date_part('epoch', c.sealed_at) FROM public.checkpoint c
        WHERE c.size > l.first ORDER BY c.size LIMIT 1)
    FROM public.log_leaves l WHERE l.kind = '${kind}' AND l.first < ${size} ORDER BY lower(l.span)`;
  for await (const row of rowsOf<LeavesRow>(client, `${kind}_leaves`, sql, LEAVES_PAGE))
    yield leavesIn(kind, row);
  return undefined;
}

/** @throws LogFault if the sealer cannot have written the row. */
function leavesIn(
  kind: KindName,
  [first, low, high, list, hashes, completeUntil, sealedAt]: LeavesRow,
): Leaves {
  const ids = list.slice(1, -1).split(',');
  const areSorted = ids.every((id, place) => place === 0 || ids[place - 1]! < id);
  const isTheirSpan = timeOfId(ids[0]!) === Number(low) && timeOfId(ids.at(-1)!) + 1 === Number(high);
  if (!areSorted || !isTheirSpan || hashes.length !== ids.length * HASH_BYTES * 2) {
    throw leavesChanged(Number(first), kind);
  }
  return {
    first: Number(first),
    from: Number(low),
    ids,
    hashes,
    done: 0,
    completeUntil: completeUntil === null ? -Infinity : Number(completeUntil),
    sealedAt: sealedAt === null ? Infinity : Number(sealedAt),
  };
}
