import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { removeDataDir } from './data-dir';
import { migrate, PROXY_MIGRATIONS, SANDBOX_MIGRATIONS } from '../../src/database/migrations';

declare global {
  var stopTestPostgres: (() => Promise<void>) | undefined;
}

/** One real Postgres for the whole run; its migrated databases are the templates that each spec file clones. */
export default async function globalSetup(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-test-'));
  // What is lost in a power cut does not matter here, time does.
  const settings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
  const postgres = await startEmbeddedPostgres(dataDir, { settings });
  await migrate(postgres.urls.owner, PROXY_MIGRATIONS);
  await migrate(postgres.urls.sandbox, SANDBOX_MIGRATIONS);
  process.env.TEST_POSTGRES = JSON.stringify(postgres.urls);
  globalThis.stopTestPostgres = async () => {
    await postgres.stop();
    removeDataDir(dataDir);
  };
}
