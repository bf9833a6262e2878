import { accessSync, chmodSync, constants, copyFileSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../../src/platform/database/embedded/embedded-postgres';
import {
  migrate,
  PROXY_MIGRATIONS,
  SANDBOX_MIGRATIONS,
} from '../../../src/platform/database/migrations/migrations';
import { first } from '../examples/first';
import { removeDataDir } from '../processes/data-dir';

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm';

/** Required space: many times the size of a run's databases. A container may have 64 MB there. */
const SPACE_BYTES = 2 * 1024 ** 3;

declare global {
  var stopTestPostgres: (() => Promise<void>) | undefined;
}

/** Starts one real Postgres for the whole run. Each spec file clones its migrated databases. */
export default async function globalSetup(): Promise<void> {
  const dataDir = mkdtempSync(join(fastestDirectory(), 'payout-proxy-test-'));
  chmodSync(dataDir, 0o755); // if root runs this, Postgres's user needs access, or its home moves to the disk
  // Speed matters more than durability here. No database lives long enough for a vacuum.
  const settings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off'];
  const postgres = await startEmbeddedPostgres(dataDir, { settings });
  await trustLogins(postgres.urls.owner);
  await migrate(postgres.urls.owner, PROXY_MIGRATIONS);
  await migrate(postgres.urls.sandbox, SANDBOX_MIGRATIONS);
  process.env.TEST_POSTGRES = JSON.stringify(postgres.urls);
  // The first test with a browser fills this folder.
  process.env.TEST_CHROMIUM = mkdtempSync(join(tmpdir(), 'payout-proxy-chromium-'));
  const compiled = mkdtempSync(join(fastestDirectory(), 'payout-proxy-compiled-'));
  process.env.TEST_COMPILED = join(compiled, 'compiled.cjs');
  copyFileSync(join(__dirname, 'compiled.cjs'), process.env.TEST_COMPILED);
  globalThis.stopTestPostgres = async () => {
    await postgres.stop();
    removeDataDir(dataDir);
    removeDataDir(compiled);
    removeDataDir(process.env.TEST_CHROMIUM ?? '');
  };
}

/** Disables password checks: half of the cost of a connection, and a run opens some four thousand. */
async function trustLogins(ownerUrl: string): Promise<void> {
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  const { rows } = await owner.query<{ hba_file: string }>('SHOW hba_file');
  await owner.query(`COPY (SELECT 'host all all 127.0.0.1/32 trust') TO '${first(rows).hba_file}'`);
  await owner.query('SELECT pg_reload_conf()');
  await owner.end();
}

/** Returns a folder in memory if there is space. A thousand small files of a clone are slow on disk. */
function fastestDirectory(): string {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize >= SPACE_BYTES) return MEMORY;
  } catch {
    // Missing or inaccessible.
  }
  return tmpdir();
}
