import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { StartError } from '../config/config';
import { cannotReach } from './reach';

/** Prisma's own migration lock, so that its CLI and this file exclude each other. */
const MIGRATION_LOCK = 72_707_369;

const PRISMA_DIR = join(__dirname, '..', '..', '..', 'prisma');

/** The migrations of the proxy, and those of the sandbox's own database. */
export const PROXY_MIGRATIONS = join(PRISMA_DIR, 'migrations');
export const SANDBOX_MIGRATIONS = join(PRISMA_DIR, 'sandbox', 'migrations');

interface MigrationState {
  name: string;
  appliedAt: Date | null;
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

// The table and checksums of `prisma migrate deploy`, which operators may use instead.
const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL,
  logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`;

/**
 * Applies the pending migrations, each in its own transaction. Instances that start together wait for each other. It needs
 * the owner's rights only if a migration is pending.
 * @returns the names of the migrations it applied.
 * @throws StartError if the database cannot be reached, or an applied migration was edited since.
 */
export async function migrate(ownerUrl: string, directory: string): Promise<string[]> {
  return withClient(ownerUrl, async (client) => {
    const migrations = read(directory);
    if (pending(migrations, await applied(client)).length === 0) return [];
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]); // released with the connection
    await client.query(MIGRATIONS_TABLE);
    const todo = pending(migrations, await applied(client));
    for (const migration of todo) await apply(client, migration);
    return todo.map(({ name }) => name);
  });
}

/**
 * Returns the names of the migrations that `migrate` would apply, and changes nothing.
 * @throws StartError in the same cases as `migrate`.
 */
export async function pendingMigrations(url: string, directory: string): Promise<string[]> {
  return withClient(url, async (client) => pending(read(directory), await applied(client)).map(({ name }) => name));
}

/** Returns every migration and when it was applied. */
export async function migrationStatus(url: string, directory: string): Promise<MigrationState[]> {
  return withClient(url, async (client) => {
    const rows = await applied(client);
    return read(directory).map(({ name }) => ({ name, appliedAt: rows.get(name)?.finished_at ?? null }));
  });
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined); // the query in flight reports a lost connection
  try {
    await client.connect();
  } catch (error) {
    throw cannotReach(url, error);
  }
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function read(directory: string): Migration[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const sql = readFileSync(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function applied(client: Client): Promise<Map<string, { checksum: string; finished_at: Date }>> {
  const { rows: found } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there`,
  );
  if (!found[0]?.there) return new Map();
  const { rows } = await client.query<{ migration_name: string; checksum: string; finished_at: Date }>(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  );
  return new Map(rows.map((row) => [row.migration_name, row]));
}

function pending(migrations: Migration[], done: Map<string, { checksum: string }>): Migration[] {
  for (const { name, checksum } of migrations) {
    const before = done.get(name);
    if (before && before.checksum !== checksum) {
      throw new StartError(`migration ${name} was edited after it was applied. Restore it, and add a new migration.`);
    }
  }
  return migrations.filter(({ name }) => !done.has(name));
}

async function apply(client: Client, { name, sql, checksum }: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(sql); // as one script, because splitting at semicolons is not safe
    await client.query(
      'INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ($1, $2, $3, now(), 1)',
      [randomUUID(), checksum, name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined); // a lost connection is rolled back by the server
    throw new StartError(`migration ${name} failed: ${(error as Error).message}`);
  }
}
