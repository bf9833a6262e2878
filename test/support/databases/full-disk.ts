import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OwnPostgres, startOwnPostgres } from './own-postgres';
import { createTestDatabase, TestDatabase } from './test-database';

/** A test's own database with a disk that can be filled. */
export interface FillableDatabase {
  database: TestDatabase;
  /**
   * Fills the disk.
   * @param leftBytes remaining bytes, 0 by default.
   */
  fill(leftBytes?: number): Promise<void>;
  /** Frees the space. */
  free(): Promise<void>;
  close(): Promise<void>;
}

/** Space for a cluster with two databases and its WAL, and some hundred megabytes to fill. */
const DISK_MB = 400;

const BLOCK = Buffer.alloc(65_536, 1);

/** Settings of a server with little WAL. */
const LITTLE_WAL = ['max_wal_size=64MB', 'min_wal_size=32MB'];

/** Returns whether this user may mount a file system. */
export function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-mount-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
  if (status === 0) execFileSync('umount', [folder]);
  rmdirSync(folder);
  return status === 0;
}

/** Starts a Postgres on a small file system in memory. Needs permission to mount one. */
export async function startPostgresOnSmallDisk(
  megabytes = DISK_MB,
): Promise<FillableDatabase & { server: OwnPostgres; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  chmodSync(folder, 0o755);
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const server = await startOwnPostgres({ dataDir, settings: LITTLE_WAL });
  const filler = join(folder, 'filler');
  return {
    server,
    folder,
    database: server.database,
    fill: (leftBytes = 0) => {
      fillUp(folder, filler, leftBytes);
      return Promise.resolve();
    },
    free: () => Promise.resolve(rmSync(filler, { force: true })),
    close: async () => {
      rmSync(filler, { force: true });
      await server.close();
      execFileSync('umount', ['--lazy', folder]);
      rmdirSync(folder);
    },
  };
}

/** Writes a file until only this much space is left. */
function fillUp(folder: string, filler: string, leftBytes: number): void {
  const file = openSync(filler, 'a');
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(folder);
      const rest = bavail * bsize - leftBytes;
      if (rest < 4_096) return;
      writeSync(file, BLOCK, 0, Math.min(rest, BLOCK.length));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

/** Tables that grow with the proxy's work, except outcomes. */
const GROWING = ['intent', 'refusal', 'access', 'space_reserve', 'worker_task', 'console_session', 'stop'];

/**
 * Returns a database that behaves like one with a full disk, for users without permission to mount. Inserts
 * fail, and outcomes succeed only while the reserve is released. Triggers raise the server's own errors.
 */
export async function likeOnSmallDisk(): Promise<FillableDatabase> {
  const database = await createTestDatabase();
  await database.query(`
    CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      IF TG_TABLE_NAME <> 'outcome' OR pg_relation_size('space_reserve') > 0 THEN
        RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full';
      END IF;
      RETURN NULL;
    END $$`);
  const each = (sql: (table: string) => string) =>
    Promise.all([...GROWING, 'outcome'].map((table) => database.query(sql(table))));
  return {
    database,
    fill: async () => {
      await each(
        (table) =>
          `CREATE TRIGGER no_space BEFORE INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION no_space()`,
      );
    },
    free: async () => {
      await each((table) => `DROP TRIGGER IF EXISTS no_space ON ${table}`);
    },
    close: () => database.close(),
  };
}
