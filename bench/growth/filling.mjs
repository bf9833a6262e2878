/** A database for each size, filled once. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fill } from '../history/history.mjs';
import { makeKeyOf, makeKeys } from '../history/keys.mjs';
import { startPostgres } from '../support/postgres.mjs';

const require = createRequire(import.meta.url);
const { writePrivateJson } = require('../../dist/platform/config/secrets/private-file.js');

/** Disk space in GB with seals, and with the space for Postgres's log and sorting during the filling. */
const BYTES_PER_CALL = 4_200;
const BYTES_MEANWHILE = 8e9;

/** The client with the most calls, so that lookups for its calls search among the most. */
const BUSIEST = 'shop';

/** Durability does not matter, because a database can be filled again. */
const CARELESS = [
  'fsync=off',
  'full_page_writes=off',
  'autovacuum=off',
  'shared_buffers=1GB',
  'max_wal_size=2GB',
  'checkpoint_timeout=1h',
  'max_parallel_maintenance_workers=0',
];

export const databaseOf = (calls) => `growth_${calls}`;

/** Returns the facts about a filled size: {keys, filling, sealing}. Undefined if it is not filled. */
export function filledIn(folder, calls) {
  const file = noteOf(folder, calls);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** Adds facts about a filled size. */
export function note(folder, calls, more) {
  writePrivateJson(noteOf(folder, calls), { ...filledIn(folder, calls), ...more });
}

/** @throws if the disk has too little room for the sizes that are still to be filled. */
export function requireRoom(folder, sizes) {
  mkdirSync(folder, { recursive: true });
  const calls = sizes.filter((size) => !filledIn(folder, size)).reduce((sum, size) => sum + size, 0);
  if (calls === 0) return;
  const { bavail, bsize } = statfsSync(folder);
  const [needed, free] = [calls * BYTES_PER_CALL + BYTES_MEANWHILE, bavail * bsize].map((bytes) =>
    Math.ceil(bytes / 1e9),
  );
  process.stderr.write(
    `${calls.toLocaleString('en')} calls need about ${needed} GB in ${folder}; ${free} GB are free\n`,
  );
  if (needed > free)
    throw new Error('that is not enough: name another folder with --data, or smaller --sizes');
}

/** Fills the sizes that are not filled yet. Then Postgres is stopped, and all its data is on disk. */
export async function fillAll(folder, sizes, settings) {
  const missing = sizes.filter((size) => !filledIn(folder, size));
  if (missing.length === 0) return;
  const postgres = await startPostgres({ keep: folder, settings: CARELESS });
  try {
    for (const calls of missing) {
      const url = await postgres.createDatabase(databaseOf(calls));
      const name = `${calls.toLocaleString('en')} calls`;
      const filling = await fill(url, { calls, name, ...settings });
      const keys = { ...(await makeKeys(url)), busiest: await makeKeyOf(url, BUSIEST) };
      note(folder, calls, { keys, filling });
    }
  } finally {
    await postgres.stop();
    if (process.platform !== 'win32') execFileSync('sync');
  }
}

function noteOf(folder, calls) {
  return join(folder, `${calls}.json`);
}
