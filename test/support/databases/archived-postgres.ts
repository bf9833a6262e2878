import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import {
  EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../src/platform/database/embedded/embedded-postgres';
import { prepareHome } from '../../../src/platform/database/embedded/home';
import { migrate, PROXY_MIGRATIONS } from '../../../src/platform/database/migrations/migrations';
import { withConnection } from '../../../src/platform/database/servers/database-client';
import { eventually } from '../payments/paying';
import { removeDataDir } from '../processes/data-dir';
import { TestDatabase } from './test-database';

const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** A test's own Postgres server with an archive of its write-ahead log, for point-in-time recovery. */
export interface ArchivedPostgres {
  database: TestDatabase;
  /** Copies the files of the running server. The npm binaries lack pg_basebackup. */
  backUpFiles(): Promise<void>;
  /** Names the current state as a recovery point. */
  markPoint(name: string): Promise<void>;
  /** Loses the server. Replaces it by the copied files, and replays the archive up to the point. */
  recoverTo(point: string): Promise<void>;
  close(): Promise<void>;
}

export async function startArchivedPostgres(): Promise<ArchivedPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-archived-'));
  chmodSync(dataDir, 0o755);
  const home = prepareHome(dataDir);
  const [archive, copy] = ['archive', 'copy'].map((name) => join(home.directory, name)) as [string, string];
  mkdirSync(archive);
  home.own(archive);
  const settings = [...FAST, 'archive_mode=on', `archive_command=cp %p ${archive}/%f`];
  let postgres: EmbeddedPostgres = await startEmbeddedPostgres(dataDir, { settings });
  const { urls } = postgres;
  await migrate(urls.owner, PROXY_MIGRATIONS);
  const write = (path: string, text: string) => {
    writeFileSync(path, text);
    home.own(path);
  };
  const ask = <T>(work: (client: Client) => Promise<T>) => withConnection(urls.owner, work);
  return {
    database: {
      url: urls.proxy,
      ownerUrl: urls.owner,
      sandboxUrl: urls.sandbox,
      query: <Row extends object>(sql: string, parameters: unknown[] = []) =>
        ask(async (client) => (await client.query<Row>(sql, parameters)).rows),
      asTemplate: () => Promise.reject(new Error('this server is not shared')),
      close: () => Promise.resolve(),
    },
    backUpFiles: () =>
      ask(async (client) => {
        await client.query(`SELECT pg_backup_start('drill', true)`);
        spawnSync('cp', ['-a', home.cluster, copy]); // Files may vanish meanwhile. The replay repairs them.
        const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop()');
        write(join(copy, 'backup_label'), rows[0]?.labelfile ?? '');
        rmSync(join(copy, 'postmaster.pid'));
        execFileSync('find', [join(copy, 'pg_wal'), '-type', 'f', '-delete']); // They are in the archive.
      }),
    markPoint: (name) =>
      ask(async (client) => void (await client.query('SELECT pg_create_restore_point($1)', [name]))),
    recoverTo: async (point) => {
      await ask((client) => client.query('SELECT pg_switch_wal()'));
      await postgres.stop(); // Waits until the archive has the last segment.
      rmSync(home.cluster, { recursive: true });
      execFileSync('cp', ['-a', copy, home.cluster]);
      write(join(home.cluster, 'recovery.signal'), '');
      const target = [
        `restore_command = 'cp ${archive}/%f %p'`,
        `recovery_target_name = '${point}'`,
        `recovery_target_action = 'promote'`,
      ];
      appendFileSync(join(home.cluster, 'postgresql.auto.conf'), `${target.join('\n')}\n`);
      postgres = await startEmbeddedPostgres(dataDir, { settings });
      if (postgres.urls.owner !== urls.owner) throw new Error('the address of the server has changed');
      // It accepts connections shortly before its promotion, and writes only after it.
      await eventually(async () => {
        const { rows } = await ask((client) =>
          client.query<{ replays: boolean }>('SELECT pg_is_in_recovery() AS replays'),
        );
        return rows[0]?.replays === false;
      });
    },
    close: async () => {
      await postgres.stop();
      removeDataDir(dataDir);
    },
  };
}
