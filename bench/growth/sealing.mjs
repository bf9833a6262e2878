import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { rssOf } from '../support/processes.mjs';
import { startProgress } from '../support/progress.mjs';

const LOOK_EVERY_MS = 250;

/** Least number of records for a speed. Fewer are left after an interrupted run. */
const ENOUGH = 10_000;

/**
 * Waits until the worker of a proxy has sealed all records, or for this many seconds.
 * @returns {records, seconds, recordsPerSecond, rssMb, all}, null if they were sealed before. `all` says
 * whether none is left.
 */
export async function sealed(
  { workerUrls: [url], pids: [pid] },
  databaseUrl,
  name,
  longestSeconds = Infinity,
) {
  const first = await look(url);
  const progress = startProgress(
    `${name}: sealing`,
    Math.max(1, (await countRecords(databaseUrl)) - first.leaves),
  );
  const begun = performance.now();
  let [now, rssMb] = [first, 0];
  do {
    await sleep(LOOK_EVERY_MS);
    const next = await look(url);
    progress.add(next.leaves - now.leaves);
    now = next;
    rssMb = Math.max(rssMb, rssOf(pid));
    if (performance.now() - begun > longestSeconds * 1_000) break;
  } while (now.leaves === 0 || now.lagSeconds > 0);
  const seconds = (performance.now() - begun) / 1_000;
  progress.end();
  const records = now.leaves - first.leaves;
  return records < ENOUGH
    ? null
    : { records, seconds, recordsPerSecond: records / seconds, rssMb, all: now.lagSeconds === 0 };
}

async function look(url) {
  const text = await fetch(`${url}/metrics`).then(
    (answer) => answer.text(),
    () => '',
  );
  const value = (name) => Number(new RegExp(`^payout_proxy_log_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
  return { leaves: value('leaves'), lagSeconds: value('lag_seconds') };
}

/** Estimates the number of records, of the kinds in a generated history. */
async function countRecords(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    `SELECT sum(greatest(reltuples, 0)) AS count FROM pg_class
     WHERE oid = ANY ('{intent,outcome,refusal,decision,settlement}'::regclass[])`,
  );
  await client.end();
  return Number(rows[0].count);
}
