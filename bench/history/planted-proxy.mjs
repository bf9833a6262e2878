import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { makeFolder } from '../support/postgres.mjs';
import { cpuSecondsOfFamily } from '../support/processes.mjs';
import { startProxy } from './running-proxy.mjs';
import { startStub } from './stub-upstream.mjs';

const require = createRequire(import.meta.url);
const { hashKey, newKey } = require('../../dist/access/clients/key.js');
const { startEmbeddedPostgres } = require('../../dist/platform/database/embedded/embedded-postgres.js');
const { LOCKS } = require('../../dist/platform/database/locks.js');
const { migrate, PROXY_MIGRATIONS } = require('../../dist/platform/database/migrations/migrations.js');

/**
 * Runs work with a proxy on a planted history in a database of its own. The jobs that read the upstream by
 * themselves are off.
 * @param planting plants a history, and returns what the work needs to know of it.
 * @param work gets the proxy, a key, the database, what was planted, and a function for the CPU time of the
 * proxy and Postgres so far, which counts where others use the machine too.
 */
export async function withPlantedProxy(planting, work, env = {}) {
  const directory = makeFolder('payout-proxy-bench-');
  const listing = join(directory, 'listing.json');
  const postgres = await startEmbeddedPostgres(join(directory, 'data'));
  const stub = await startStub(listing);
  const owner = new pg.Client({ connectionString: postgres.urls.owner });
  try {
    await migrate(postgres.urls.owner, PROXY_MIGRATIONS);
    await owner.connect();
    const planted = await planting(postgres.urls.owner, { file: listing, stub });
    await indexAll(owner);
    const key = await makeKey(owner);
    // Sealing is measured elsewhere. This lock keeps the proxy from sealing the planted history.
    await owner.query(`SELECT pg_advisory_lock(${LOCKS.sealer})`);
    Object.assign(process.env, settingsOf(postgres.urls, stub.url, directory), env);
    const proxy = await startProxy();
    try {
      const { rows } = await owner.query('SHOW data_directory');
      const file = join(rows[0].data_directory, 'postmaster.pid');
      const postgresPid = Number(readFileSync(file, 'utf8').split('\n', 1)[0]);
      const cpuSeconds = () => cpuSecondsOfFamily(proxy.pid, postgresPid);
      return await work({ proxy, key, owner, planted, cpuSeconds });
    } finally {
      await proxy.stop();
    }
  } finally {
    await owner.end();
    await stub.stop();
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Indexes the planted calls, which a running proxy does within seconds of each. */
async function indexAll(owner) {
  let state = 'more';
  while (state === 'more') {
    ({ state } = (await owner.query('SELECT index_calls(5000) AS state')).rows[0]);
  }
  await owner.query('ANALYZE');
}

function settingsOf({ proxy, owner }, upstream, directory) {
  return {
    DATABASE_URL: proxy,
    DATABASE_OWNER_URL: owner,
    DATA_DIR: directory,
    UPSTREAM_BASE_URL: upstream,
    UPSTREAM_API_KEY: 'planted-upstream-key',
    RESOLVER_EVERY_SECONDS: '0',
    FOLLOW_UP_EVERY_SECONDS: '0',
    WALLETS_EVERY_SECONDS: '0',
    RECONCILIATION_FEE_PERCENT: '1',
  };
}

async function makeKey(owner) {
  const id = uuidv7();
  const key = newKey('reconciler');
  await owner.query("INSERT INTO client (id, name, scopes) VALUES ($1, 'reconciler', '{reconcile}')", [id]);
  await owner.query('INSERT INTO api_key (id, client_id, sha256, hint) VALUES ($1, $2, $3, $4)', [
    uuidv7(),
    id,
    hashKey(key),
    key.slice(-4),
  ]);
  return key;
}
