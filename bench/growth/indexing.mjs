import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import pg from 'pg';
import { startProgress } from '../support/progress.mjs';

const require = createRequire(import.meta.url);
const { checkSearchIndex } = require('../../dist/history/log/verify/search-index.js');

/** Age from which a record must be indexed, in seconds. As in `audit verify`. */
const DELAY_SECONDS = 60;

/**
 * Rebuilds the search index of each history up to a size, and verifies it, as `audit verify` does.
 * @returns by size: {rebuilding, verifying}, each {seconds, callsPerSecond, cpuMs}. The CPU time is that of
 * Postgres, for a call.
 */
export async function rebuiltAndVerified(subjects, { postgres }, largest) {
  const chosen = subjects.filter(({ calls }) => calls <= largest);
  const progress = startProgress('rebuilding and verifying the index', 2 * chosen.length);
  const results = new Map();
  for (const { calls, database } of chosen) {
    const client = new pg.Client({ connectionString: postgres.urlOf(database) });
    await client.connect();
    const rebuilding = await timed(postgres, calls, () => client.query('SELECT rebuild_search_index()'));
    progress.add(1);
    await client.query('VACUUM (ANALYZE) search_entry');
    const verifying = await timed(postgres, calls, () => verify(client));
    progress.add(1);
    await client.end();
    results.set(calls, { rebuilding, verifying });
  }
  progress.end();
  return results;
}

async function verify(client) {
  const query = async (sql, values) => (await client.query(sql, values)).rows;
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  if (!(await checkSearchIndex(query, DELAY_SECONDS))) throw new Error('the search index is incomplete');
  await client.query('COMMIT');
}

async function timed(postgres, calls, work) {
  const begun = performance.now();
  const before = await postgres.work();
  await work();
  const after = await postgres.work();
  const seconds = (performance.now() - begun) / 1_000;
  const cpuMs = ((after.cpuSeconds - before.cpuSeconds) * 1_000) / calls;
  return { seconds, callsPerSecond: calls / seconds, cpuMs };
}
