import { Client } from 'pg';
import { StartError } from '../../config/config';
import { codeOf } from '../../errors/error-code';
import { INSUFFICIENT_PRIVILEGE } from '../servers/database-client';
import { Migration } from './migration-files';

export interface AppliedMigration {
  checksum: string;
  appliedAt: Date;
  /** The last migration of the oldest program that may run with it. Undefined if no other program may. */
  oldestProgram: string | undefined;
}

/**
 * The table and checksums of `prisma migrate deploy`, which operators may use instead. The first migration
 * creates it, so that an interrupted one leaves an empty database.
 */
export const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id varchar(36) PRIMARY KEY,
  checksum varchar(64) NOT NULL,
  finished_at timestamptz,
  migration_name varchar(255) NOT NULL,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz NOT NULL DEFAULT now(),
  applied_steps_count integer NOT NULL DEFAULT 0)`;

/**
 * Reads the applied migrations by name. An empty database has none.
 * @throws StartError if another login owns the tables, or if the login works in another schema.
 */
export async function appliedMigrations(client: Client): Promise<Map<string, AppliedMigration>> {
  await requirePublic(client);
  if (!(await exists(client, '_prisma_migrations'))) return new Map();
  const rows = await readApplied(client);
  const oldest = await oldestPrograms(client);
  return new Map(
    rows.map(({ migration_name: name, checksum, finished_at: appliedAt }) => [
      name,
      { checksum, appliedAt, oldestProgram: oldest.get(name) },
    ]),
  );
}

/** Rejects a login that works in another schema, such as one of its name, where the migrations would fail. */
async function requirePublic(client: Client): Promise<void> {
  const { rows } = await client.query<{ login: string; database: string; schema: string | null }>(
    `SELECT quote_ident(session_user) AS login, quote_ident(current_database()) AS database,
      current_schema()::text AS schema
     WHERE current_schema() IS DISTINCT FROM 'public' AND has_schema_privilege('public', 'USAGE')`,
  );
  const [found] = rows;
  if (!found) return;
  throw new StartError(
    `the login ${found.login} works in ` +
      `${found.schema === null ? 'no schema' : `the schema ${found.schema}`}, and the tables belong in ` +
      'public. If its address has a search_path, remove it there. Otherwise run in this database:\n' +
      `ALTER ROLE ${found.login} IN DATABASE ${found.database} SET search_path = public;`,
  );
}

interface AppliedRow {
  migration_name: string;
  checksum: string;
  finished_at: Date;
}

async function readApplied(client: Client): Promise<AppliedRow[]> {
  try {
    const { rows } = await client.query<AppliedRow>(
      `SELECT migration_name, checksum, finished_at FROM _prisma_migrations
       WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
    );
    return rows;
  } catch (error) {
    const isDenied = codeOf(error) === INSUFFICIENT_PRIVILEGE;
    throw (isDenied && (await notOwner(client))) || error; // the proxy's own login may read it, too
  }
}

/**
 * Returns the migrations that the database lacks.
 * @throws StartError if an applied migration was edited, or if this program is too old for the database.
 */
export function pendingOf(migrations: Migration[], applied: Map<string, AppliedMigration>): Migration[] {
  for (const { name, checksum } of migrations) {
    const before = applied.get(name);
    if (before !== undefined && before.checksum !== checksum) throw wasEdited(name);
  }
  refuseTooNew(migrations, applied);
  return migrations.filter(({ name }) => !applied.has(name));
}

/**
 * Rejects a database with an unknown migration, unless the migration allows this program. A rolling upgrade
 * restarts instances of the previous version on the new schema.
 */
function refuseTooNew(migrations: Migration[], applied: Map<string, AppliedMigration>): void {
  const last = migrations.at(-1)?.name ?? '';
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = [...applied].filter(([name]) => !known.has(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  const isTooNew = unknown.some(
    ([, { oldestProgram }]) => oldestProgram === undefined || oldestProgram > last,
  );
  const [newest, { oldestProgram = undefined } = {}] = unknown.at(-1) ?? [];
  if (!isTooNew || newest === undefined) return;
  throw new StartError(
    `the database is newer than this program. It has the migration ${newest}, and the last one of this ` +
      `program is ${last || 'none'}. Start a version that has the migration ${oldestProgram ?? newest}, ` +
      'or restore a backup from before the upgrade into a new database.',
  );
}

function wasEdited(name: string): StartError {
  return new StartError(
    `the migration ${name} was edited after it was applied: its file in this program differs from the ` +
      'applied one. Start the version that applied it, or restore its file and put the change into a new ' +
      'migration. A database of a development version cannot be upgraded: begin with an empty one ' +
      '(another DATA_DIR or DATABASE_URL).',
  );
}

/** Returns the oldest program of each migration, also of those without a file in this program. */
async function oldestPrograms(client: Client): Promise<Map<string, string>> {
  if (!(await exists(client, 'migration_compatibility'))) return new Map();
  const { rows } = await client.query<{ migration: string; oldest_program: string }>(
    'SELECT migration, oldest_program FROM migration_compatibility',
  );
  return new Map(rows.map(({ migration, oldest_program: oldest }) => [migration, oldest]));
}

async function exists(client: Client, table: string): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    table,
  ]);
  return rows[0]?.exists ?? false;
}

/** SQL: objects of migrations. Sequences of columns and objects of extensions have no owner of their own. */
const OWNED = `
SELECT format('ALTER TABLE %s OWNER TO %I', c.oid::regclass, login)
  FROM pg_class c
  WHERE relnamespace::regnamespace::text IN ('public', 'audit') AND relkind IN ('r', 'p', 'v', 'S')
    AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.objid = c.oid
        AND (deptype = 'e' OR relkind = 'S' AND deptype IN ('a', 'i')))
UNION ALL
SELECT format('ALTER ROUTINE %s OWNER TO %I', p.oid::regprocedure, login)
  FROM pg_proc p
  WHERE pronamespace::regnamespace::text IN ('public', 'audit')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND deptype = 'e')
UNION ALL SELECT format('ALTER SCHEMA %I OWNER TO %I', nspname, login) FROM pg_namespace
  WHERE nspname = 'audit'
UNION ALL SELECT format('ALTER DATABASE %I OWNER TO %I', current_database(), login)`;

/**
 * Returns the error of a login that does not own the tables. A restore gives the tables to the administrator
 * if the dump's owner does not exist.
 * @returns undefined if the login owns them, or if there are none.
 */
export async function notOwner(client: Client): Promise<StartError | undefined> {
  const { rows } = await client.query<{ login: string; owner: string }>(
    `SELECT current_user::text AS login, pg_get_userbyid(relowner)::text AS owner FROM pg_class
     WHERE oid = to_regclass('public._prisma_migrations') AND NOT pg_has_role(relowner, 'USAGE')`,
  );
  const [found] = rows;
  if (!found) return undefined;
  const { login, owner } = found;
  // one statement on one line is copied without mistakes
  const oneLine = OWNED.trim().replaceAll(/\s+/g, ' ');
  const change =
    `DO $$ DECLARE login text := ${client.escapeLiteral(login)}; statement text; BEGIN FOR statement IN ` +
    `${oneLine} LOOP EXECUTE statement; END LOOP; END $$;`;
  return new StartError(
    `the tables of the database belong to ${owner}, and the owner's login is ${login}. If ${owner} is ` +
      'to be the owner, set DATABASE_OWNER_URL to it. If another login has restored the database, run as ' +
      `an administrator in this database:\n${change}`,
  );
}
