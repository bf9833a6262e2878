/** Counts the database work of a round. Counts depend less on the machine than times do. */
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import pg from 'pg';

/** Polling interval: short enough for waits of some milliseconds, and long enough to cost little. */
const LOOK_EVERY_MS = 10;

/** The calls since a moment, and the commits that wrote them: one for each batch. */
const BATCHES = `SELECT count(*)::float8 AS calls, count(DISTINCT tx::text)::float8 AS admissions,
    (SELECT count(DISTINCT tx::text) FROM outcome WHERE recorded_at > $1::timestamptz)::float8 AS outcomes
  FROM intent WHERE recorded_at > $1::timestamptz`;

const WAITING = `SELECT count(*)::integer AS waiting FROM pg_stat_activity
  WHERE wait_event_type = 'Lock' AND datname = current_database()`;

/** @param url of the contestant's database, as its owner. */
export async function countersOf(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    now: async () => (await client.query('SELECT clock_timestamp()::text AS at')).rows[0].at,
    /** Returns {calls, admissions, outcomes}: calls since then, and batches that admitted and ended them. */
    batchesSince: async (at) => (await client.query(BATCHES, [at])).rows[0],
    /** Returns a function that ends the count, and returns the seconds that backends waited for locks. */
    watchLocks: () => watch(client),
    query: (sql) => client.query(sql),
    end: () => client.end(),
  };
}

/** Polls for waiting backends. Each waits, as far as is known, since the poll before. */
function watch(client) {
  let [seconds, last] = [0, performance.now()];
  let looking;
  const look = async () => {
    const { rows } = await client.query(WAITING);
    const now = performance.now();
    seconds += (rows[0].waiting * (now - last)) / 1_000;
    last = now;
    looking = undefined;
  };
  const timer = setInterval(() => (looking ??= look()), LOOK_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await looking;
    return seconds;
  };
}
