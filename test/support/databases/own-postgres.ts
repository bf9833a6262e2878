import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../../src/platform/database/embedded/embedded-postgres';
import { migrate, PROXY_MIGRATIONS } from '../../../src/platform/database/migrations/migrations';
import { removeDataDir } from '../processes/data-dir';
import { TestDatabase } from './test-database';

/** A test's own Postgres server that can be frozen and continued at any moment. */
export interface OwnPostgres {
  database: TestDatabase;
  /** Stops every process of the server immediately. The kernel still accepts connections. */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/**
 * @param dataDir its data directory. By default, a new temporary folder.
 * @param settings in addition to those that make it fast.
 */
export async function startOwnPostgres({
  dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-own-')),
  settings = [] as string[],
} = {}): Promise<OwnPostgres> {
  chmodSync(dataDir, 0o755);
  const fast = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
  const postgres = await startEmbeddedPostgres(dataDir, { settings: [...fast, ...settings] });
  const { urls } = postgres;
  await migrate(urls.owner, PROXY_MIGRATIONS);
  const owner = new Client({ connectionString: urls.owner });
  await owner.connect();
  const postmaster = Number(
    readFileSync(join(realpathSync(join(dataDir, 'postgres')), 'cluster', 'postmaster.pid'), 'utf8').split(
      '\n',
    )[0],
  );
  const signal = (name: NodeJS.Signals) => signalServer(postmaster, name);
  return {
    database: {
      url: urls.proxy,
      ownerUrl: urls.owner,
      sandboxUrl: urls.sandbox,
      query: async <Row extends object>(sql: string, parameters: unknown[] = []) =>
        (await owner.query<Row>(sql, parameters)).rows,
      asTemplate: () => Promise.reject(new Error('this server is not shared')),
      close: () => owner.end(),
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    close: async () => {
      signal('SIGCONT'); // After a failed test.
      await owner.end();
      await postgres.stop();
      removeDataDir(dataDir);
    },
  };
}

/** Sends a signal to every process of a server, to the postmaster first, which would start others. */
export function signalServer(postmaster: number, name: NodeJS.Signals): void {
  const children = childrenOf(postmaster);
  for (const pid of [postmaster, ...children]) {
    try {
      process.kill(pid, name);
    } catch {
      // The process has exited.
    }
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        // pid (comm) state ppid …
        return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]) === parent;
      } catch {
        return false; // The process has exited.
      }
    })
    .map(Number);
}
