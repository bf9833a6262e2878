import { ClientBase } from 'pg';
import { Form, KindName, kindOf, leafSql } from '../kinds';
import { Cursor } from './cursor';

/** A record in Postgres' text format, with its related rows. */
export type RecordRow = [
  id: string,
  /** Seconds since 1970, by the database's clock. */
  at: string | null,
  leaf: string,
  /** `1` if the record has a body row, else `0`. */
  hasBody: string,
  /** SHA-256(salt || body), hex. Empty if the salt has a wrong length. Null without a body. */
  bodyHash: string | null,
  /** SHA-256(salt || idempotency key), hex. Empty if the salt has a wrong length. Null without a salt. */
  keyHash: string | null,
  /** JSON of `PersonDocument[]`. */
  people: string | null,
  /** SHA-256(salt || name) of the requester, hex. Empty if the salt has a wrong length. Null if erased. */
  actorHash: string | null,
  /** The columns of a document, in the order of its kind. */
  ...columns: (string | null)[],
];

/**
 * Size of every salt in bytes (platform/privacy/commitment.ts). A longer salt could include the first bytes
 * of a value.
 */
const SALT_BYTES = 16;

/** Related rows of the records of a kind. */
interface Beside {
  table: string;
  key: string;
  /** Column that the record commits to. */
  body?: { column: string; member: string };
  /**
   * Columns of the idempotency key and its salt. The record commits to it in `idempotency_key_commitment`.
   */
  idempotencyKey?: { column: string; salt: string };
}

export const BESIDE: Partial<Record<KindName, Beside>> = {
  intent: {
    table: 'intent_body',
    key: 'intent_id',
    body: { column: 'body', member: 'body_commitment' },
    idempotencyKey: { column: 'idempotency_key', salt: 'idempotency_key_salt' },
  },
  outcome: { table: 'outcome_body', key: 'intent_id', body: { column: 'body', member: 'body_commitment' } },
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
  const beside = BESIDE[name];
  const copies = Object.entries(isDocument ? columns : {}).map(([column, form]) =>
    copySql(`t.${column}`, form),
  );
  const selected = [
    `t.${key}`,
    `date_part('epoch', t.${at})`,
    leafSql(name, 't'),
    ...(beside ? besideSql(beside) : ['0', 'NULL', 'NULL', 'NULL']),
    OF_PERSONS.has(name) ? hashSql('w.salt', "convert_to(w.name, 'UTF8')", 'w.salt') : 'NULL',
    ...copies,
  ];
  const joins = [
    beside ? `LEFT JOIN public.${beside.table} b ON b.${beside.key} = t.${key}` : '',
    OF_PERSONS.has(name) ? 'LEFT JOIN public.person w ON w.id = t.person_id' : '',
  ];
  const sql = `SELECT ${selected.join(', ')} FROM public.${name} t ${joins.join(' ')} ORDER BY t.${key}`;
  return Cursor.open<RecordRow>(client, name, sql, PAGE);
}

/** Returns the columns of related rows. Postgres hashes bodies, because they may be large. */
function besideSql({ table, key, body, idempotencyKey }: Beside): string[] {
  return [
    `(b.${key} IS NOT NULL)::int`,
    body ? hashSql('b.salt', `b.${body.column}`, `b.${body.column}`) : 'NULL',
    idempotencyKey
      ? hashSql(
          `b.${idempotencyKey.salt}`,
          `convert_to(b.${idempotencyKey.column}, 'UTF8')`,
          `b.${idempotencyKey.salt}`,
        )
      : 'NULL',
    table === 'intent_body' ? 'b.people' : 'NULL',
  ];
}

/** @param present the column that has a value unless the content was erased. */
function hashSql(salt: string, content: string, present: string): string {
  return `CASE WHEN pg_catalog.octet_length(${salt}) = ${SALT_BYTES} THEN encode(pg_catalog.sha256(${salt} || ${content}), 'hex')
    WHEN ${present} IS NOT NULL THEN '' END`;
}

/** A column of a document in the form of its member. */
function copySql(column: string, form: Form): string {
  return form === 'time' ? `${column} AT TIME ZONE 'UTC'` : column;
}
