/** A Postgres for the benchmark, as the product embeds it, with a database for each contestant. */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { URL } from 'node:url';
import pg from 'pg';
import { cpuSecondsOfFamily } from './processes.mjs';

const require = createRequire(import.meta.url);
const { startEmbeddedPostgres } = require('../../dist/platform/database/embedded/embedded-postgres.js');

/**
 * Creates a temporary folder for a database. Other users may enter it, because root's Postgres runs as
 * another user and would otherwise use a folder that is never deleted.
 */
export function makeFolder(prefix) {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * @param keep a folder that is kept with its content. Without one, everything is deleted at the end.
 * @param settings see `startEmbeddedPostgres`.
 */
export async function startPostgres({ keep, settings } = {}) {
  const dataDir = keep ?? makeFolder('payout-proxy-bench-');
  const server = await startEmbeddedPostgres(dataDir, { settings });
  const client = new pg.Client({ connectionString: server.urls.owner });
  await client.connect();
  const { rows } = await client.query('SHOW data_directory');
  const pid = Number(readFileSync(join(rows[0].data_directory, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  /** Returns the address of a database, as its owner. */
  const urlOf = (name) => {
    const url = new URL(server.urls.owner);
    url.pathname = `/${name}`;
    return url.href;
  };
  return {
    dataDir,
    pid,
    urlOf,
    /** Returns the owner's address of a new, empty database. An existing one with this name is dropped. */
    createDatabase: async (name) => {
      await client.query(`DROP DATABASE IF EXISTS ${name}`);
      await client.query(`CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    /** Flushes all writes to disk. Otherwise they would slow the next measurement for minutes. */
    checkpoint: () => client.query('CHECKPOINT'),
    /** On disk, in bytes. */
    sizeOf: async (name) =>
      Number((await client.query('SELECT pg_database_size($1)', [name])).rows[0].pg_database_size),
    /** Returns the totals of all databases, of which two are subtracted. Counts only commits that wrote. */
    work: async () => {
      const { rows } = await client.query(
        `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS "walBytes",
           pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS commits`,
      );
      return { ...rows[0], cpuSeconds: cpuSecondsOfFamily(pid) };
    },
    stop: async () => {
      await client.end();
      await server.stop();
      if (!keep) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
