import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import {
  EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../src/platform/database/embedded/embedded-postgres';
import { migrate, PROXY_MIGRATIONS } from '../../../src/platform/database/migrations/migrations';
import { removeDataDir } from '../processes/data-dir';
import { TestDatabase } from './test-database';

const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** A test's own Postgres server that can be restored to an earlier state, at the same address. */
export interface OldPostgres {
  database: TestDatabase;
  /** Copies the files of the stopped server, and restarts it. */
  backUp(): Promise<void>;
  /** Replaces the files of the server by the copy. Ends connections, like a failover. */
  restore(): Promise<void>;
  /** Restarts the server without loss. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startOldPostgres(): Promise<OldPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-old-'));
  chmodSync(dataDir, 0o755);
  let postgres: EmbeddedPostgres = await startEmbeddedPostgres(dataDir, { settings: FAST });
  const { urls } = postgres;
  await migrate(urls.owner, PROXY_MIGRATIONS);
  const home = realpathSync(join(dataDir, 'postgres'));
  const [cluster, copy] = [join(home, 'cluster'), join(home, 'copy')];
  const whileStopped = async (work: () => void) => {
    await postgres.stop();
    work();
    postgres = await startEmbeddedPostgres(dataDir, { settings: FAST });
    if (postgres.urls.owner !== urls.owner) throw new Error('the address of the server has changed');
  };
  const replace = (from: string, to: string) => {
    rmSync(to, { recursive: true, force: true });
    execFileSync('cp', ['-a', from, to]);
  };
  return {
    database: {
      url: urls.proxy,
      ownerUrl: urls.owner,
      sandboxUrl: urls.sandbox,
      query: async <Row extends object>(sql: string, parameters: unknown[] = []) => {
        const client = new Client({ connectionString: urls.owner });
        await client.connect();
        try {
          return (await client.query<Row>(sql, parameters)).rows;
        } finally {
          await client.end();
        }
      },
      asTemplate: () => Promise.reject(new Error('this server is not shared')),
      close: () => Promise.resolve(),
    },
    backUp: () => whileStopped(() => replace(cluster, copy)),
    restore: () => whileStopped(() => replace(copy, cluster)),
    restart: () => whileStopped(() => undefined),
    close: async () => {
      await postgres.stop();
      removeDataDir(dataDir);
    },
  };
}
