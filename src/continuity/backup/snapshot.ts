import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { ROLES, TABLE_RIGHTS } from '../../platform/database/checks/rights';
import { withConnection } from '../../platform/database/servers/database-client';
import { hashing } from './hashing';
import { fileOf, Manifest, TableCopy } from './manifest';

/** Tables without a backup of their rows, each with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  _prisma_migrations: 'the migrations write it again',
  migration_compatibility: 'the migrations write it again',
  search_entry: 'a worker derives it again',
  search_item: 'a worker derives it again',
  search_name: 'a worker derives it again',
  search_slice: 'a worker derives it again',
  search_position: 'a worker derives it again',
  console_session: 'a session that has ended since would begin again',
  page_session: 'a session that has ended since would begin again',
  request_window: 'it counts the requests of the last minute',
  space_reserve: 'its rows mean nothing',
};

/** The database's part of a manifest. */
export type Snapshot = Omit<Manifest, 'format' | 'files'>;

interface Table {
  name: string;
  readable: boolean;
  columns: string[];
  references: string[];
  /** Number of rows, as estimated by the planner. */
  estimate: number;
}

/** Settings for text that is equal on every server. The fastest compression keeps up with it. */
const SESSION = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0;
  SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres';
  SET LOCAL extra_float_digits = 3; SET LOCAL bytea_output = 'hex'; SET LOCAL client_encoding = 'UTF8'`;
const COMPRESSION = { level: 1 };

const STATE = `
  SELECT to_char(clock_timestamp(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS taken_at, database_server() AS server,
    current_setting('server_version') AS postgres, (SELECT max(number) FROM epoch) AS epoch,
    (SELECT coalesce(max(size), 0)::float8 FROM checkpoint) AS sealed_size,
    (SELECT json_agg(json_build_object('name', migration_name, 'checksum', checksum) ORDER BY migration_name)
      FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL) AS migrations,
    (SELECT coalesce(json_agg(json_build_object('name', login, 'roles', roles) ORDER BY login), '[]') FROM (
      SELECT l.rolname AS login, json_agg(r.rolname ORDER BY r.rolname) AS roles FROM pg_auth_members m
      JOIN pg_roles l ON l.oid = m.member JOIN pg_roles r ON r.oid = m.roleid
      WHERE r.rolname = ANY ($1) AND l.rolcanlogin GROUP BY l.rolname) AS member) AS logins`;

const PARTITIONS = `
  SELECT p.relname AS parent, c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
  WHERE c.relnamespace = 'public'::regnamespace AND c.relispartition AND c.relkind = 'r' ORDER BY c.relname`;

const SEQUENCES = `SELECT sequencename AS name, last_value::text AS last FROM pg_sequences
  WHERE schemaname = 'public' ORDER BY 1`;

/**
 * The tables with their columns. Omits transaction numbers (xid8), which are meaningless on another server:
 * restored rows get the number of the restoring transaction.
 */
const TABLES = `
  SELECT c.relname AS name, has_table_privilege(c.oid, 'SELECT') AS readable,
    (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
        AND atttypid <> 'xid8'::regtype) AS columns,
    ARRAY(SELECT confrelid::regclass::text FROM pg_constraint
      WHERE conrelid = c.oid AND contype = 'f' AND confrelid <> c.oid) AS references,
    (SELECT coalesce(sum(greatest(reltuples, 0)), 0)::float8 FROM pg_class
      WHERE oid = c.oid OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = c.oid)) AS estimate
  FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  ORDER BY c.relname`;

/**
 * Writes the rows of all tables to a folder, from one snapshot. The proxy keeps running.
 * See docs/internals/decisions/operation/0039-backups-of-our-own.md.
 * @param withTables false reads only the state.
 * @param onProgress receives the number of written rows, and an estimate of all rows.
 */
export async function writeSnapshot(
  ownerUrl: string,
  folder: string,
  { withTables, onProgress }: { withTables: boolean; onProgress: (rows: number, of: number) => void },
): Promise<Snapshot> {
  return withConnection(ownerUrl, async (client) => {
    await client.query(SESSION);
    const state = (await client.query<Snapshot>(STATE, [ROLES])).rows[0] as Snapshot;
    if (!withTables) return { ...state, partitions: [], sequences: [], tables: [] };
    const { rows: partitions } = await client.query<Snapshot['partitions'][number]>(PARTITIONS);
    const { rows: sequences } = await client.query<Snapshot['sequences'][number]>(SEQUENCES);
    const { rows: all } = await client.query<Table>(TABLES);
    // Other programs may keep tables in the schema. The proxy's must be readable.
    const wanted = inOrder(
      all.filter(({ name, readable }) => !(name in LEFT_OUT) && (readable || name in TABLE_RIGHTS)),
    );
    const total = wanted.reduce((sum, { estimate }) => sum + estimate, 0);
    await mkdir(join(folder, 'tables'), { mode: 0o700 });
    const tables: TableCopy[] = [];
    let done = 0;
    for (const table of wanted) {
      const copy = await copyOut(client, table, join(folder, fileOf(table.name)));
      onProgress((done += copy.rows), Math.max(total, done));
      tables.push(copy);
    }
    return { ...state, partitions, sequences, tables };
  });
}

async function copyOut(client: Client, { name, columns }: Table, file: string): Promise<TableCopy> {
  const list = columns.map((column) => client.escapeIdentifier(column)).join(', ');
  // COPY of a partitioned table copies no rows itself.
  const rows = client.query(copyTo(`COPY (SELECT ${list} FROM ${client.escapeIdentifier(name)}) TO STDOUT`));
  const written = hashing();
  await pipeline(
    rows,
    createGzip(COMPRESSION),
    written.step,
    createWriteStream(file, { mode: 0o600, flush: true }),
  );
  return { name, columns, rows: rows.rowCount, sha256: written.digest() };
}

/** Returns the tables, each after those that it references. */
function inOrder(tables: Table[]): Table[] {
  const ordered: Table[] = [];
  const names = new Set(tables.map(({ name }) => name));
  while (ordered.length < tables.length) {
    const there = new Set(ordered.map(({ name }) => name));
    const next = tables.filter(
      ({ name, references }) =>
        !there.has(name) && references.every((other) => !names.has(other) || there.has(other)),
    );
    if (next.length === 0) throw new Error('the references between the tables form a cycle');
    ordered.push(...next);
  }
  return ordered;
}
