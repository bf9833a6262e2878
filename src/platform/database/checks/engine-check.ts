import { randomInt } from 'node:crypto';
import { Client } from 'pg';
import { StartError } from '../../config/config';
import { LOCKS } from '../locks';
import { isUnavailable } from '../pools/unavailable';
import { withConnection } from '../servers/database-client';

/** Minimum server version of the migrations. */
const OLDEST_VERSION = 150_000;

/** Page about supported servers. */
const GUIDE = 'docs/operate/scaling.md';

/**
 * Functions that the migrations and the proxy call, by purpose. Engines with the protocol of PostgreSQL lack
 * some, and a provider may revoke the right to execute them.
 */
const NEEDED_FUNCTIONS: Readonly<Record<string, string[]>> = {
  'numbers of transactions (xid8)': [
    'pg_current_xact_id',
    'pg_current_snapshot',
    'pg_snapshot_xmin',
    'pg_snapshot_xmax',
    'pg_visible_in_snapshot',
  ],
  'the identity of the server': [
    'pg_control_system',
    'pg_is_in_recovery',
    'pg_current_wal_lsn',
    'pg_walfile_name',
  ],
  'commits that wait for a standby': ['pg_logical_emit_message'],
  notifications: ['pg_notify'],
  'advisory locks': [
    'pg_try_advisory_lock',
    'pg_advisory_unlock',
    'pg_advisory_xact_lock',
    'pg_try_advisory_xact_lock',
  ],
};

/** Index methods and languages that the migrations use. */
const NEEDED_OBJECTS = `
  SELECT 'the index method ' || name AS lacking
    FROM unnest(ARRAY['gin', 'gist']) AS needed(name)
    WHERE NOT EXISTS (SELECT FROM pg_am WHERE amname = name)
  UNION ALL
  SELECT 'the language ' || name
    FROM unnest(ARRAY['sql', 'plpgsql']) AS needed(name)
    WHERE NOT EXISTS (SELECT FROM pg_language WHERE lanname = name)`;

/** SQL: needed functions that are missing, or that this login or a role of the proxy may not execute. */
const LACKING_FUNCTIONS = `SELECT name FROM unnest($1::text[]) AS needed(name)
  WHERE NOT EXISTS (
      SELECT FROM pg_proc
      WHERE proname = name AND pronamespace::regnamespace::text = 'pg_catalog')
    OR EXISTS (
      SELECT FROM pg_proc p CROSS JOIN pg_roles r
      WHERE proname = name AND pronamespace::regnamespace::text = 'pg_catalog'
        AND r.rolname IN (current_user, 'payout_proxy', 'payout_sealer')
        AND NOT has_function_privilege(r.oid, p.oid, 'EXECUTE'))`;

/**
 * Checks that the server supports the schema, before creating anything.
 * @throws StartError that names all missing features.
 */
export async function requireEngine(ownerUrl: string): Promise<void> {
  const { server, lacking } = await withConnection(ownerUrl, inspect);
  if (lacking.length === 0) return;
  throw new StartError(
    `the database server cannot be used. It lacks ${lacking.join('; ')}. It reports itself as ` +
      `${server}. Use PostgreSQL 15 or later. ${GUIDE} lists the supported services.`,
  );
}

async function inspect(client: Client): Promise<{ server: string; lacking: string[] }> {
  const { rows } = await client.query<{ server: string; number: number }>(
    "SELECT version() AS server, current_setting('server_version_num')::integer AS number",
  );
  const { server = 'unknown', number = 0 } = rows[0] ?? {};
  if (number < OLDEST_VERSION) return { server, lacking: ['the features of PostgreSQL 15'] };
  try {
    return { server, lacking: [...(await lackingFunctions(client)), ...(await lackingObjects(client))] };
  } catch (error) {
    if (isUnavailable(error)) throw error; // a restart proves nothing about its features
    return { server, lacking: [`the catalogs of PostgreSQL (${(error as Error).message})`] };
  }
}

async function lackingFunctions(client: Client): Promise<string[]> {
  const names = Object.values(NEEDED_FUNCTIONS).flat();
  const { rows } = await client.query<{ name: string }>(LACKING_FUNCTIONS, [names]);
  const missing = new Set(rows.map(({ name }) => name));
  return Object.entries(NEEDED_FUNCTIONS).flatMap(([purpose, functions]) => {
    const some = functions.filter((name) => missing.has(name));
    return some.length === 0
      ? []
      : [`${purpose}: it may not execute ${some.map((name) => `${name}()`).join(', ')}`];
  });
}

async function lackingObjects(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ lacking: string }>(NEEDED_OBJECTS);
  return rows.map(({ lacking }) => lacking);
}

/**
 * Checks that an advisory lock belongs to one session and excludes others. Such locks mark live processes and
 * elect the sealer and the resolver. On an engine that ignores them, or through a pooler in transaction mode,
 * two processes would seal at once.
 * @throws StartError if the lock does not exclude others.
 */
export async function requireSessionLocks(databaseUrl: string): Promise<void> {
  // random, because several starts may check at once
  const key = [LOCKS.probe, randomInt(2 ** 31)];
  await withConnection(databaseUrl, async (holder) => {
    const held = await take(holder, key);
    const shown = await isShown(holder, key);
    const alsoHeld = await withConnection(databaseUrl, (other) => take(other, key));
    await holder.query('SELECT pg_advisory_unlock_all()');
    if (held && shown && !alsoHeld) return;
    throw new StartError(
      'the database does not keep advisory locks for a session, and the proxy needs them to detect live ' +
        'instances. DATABASE_URL may lead through a pooler in transaction mode, or to an engine ' +
        'that ignores these locks. Connect directly, or through a pooler in session mode, or set ' +
        `DATABASE_SESSION_URL to such an address. See ${GUIDE}.`,
    );
  });
}

async function take(client: Client, key: number[]): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    'SELECT pg_try_advisory_lock($1, $2) AS taken',
    key,
  );
  return rows[0]?.taken === true;
}

/** Returns whether the server shows the lock of this session. `live_processes` depends on it. */
async function isShown(client: Client, key: number[]): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM pg_locks
     WHERE locktype = 'advisory' AND classid = $1 AND objid = $2 AND granted AND pid = pg_backend_pid()`,
    key,
  );
  return rows.length > 0;
}
