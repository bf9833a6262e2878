/** Measures what a running product and its Postgres use, and waits for their deferred work. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSecondsOf, cpuSecondsOfFamily } from './processes.mjs';

/** Deferred work (sealing, indexing) belongs to its contestant, so the next one waits until it is done. */
const SETTLED_MS = 300;
const LONGEST_SETTLING_MS = 5_000;

/** The totals so far. Subtract two of them. */
export async function costs({ pids }, postgres) {
  const { cpuSeconds, ...work } = await postgres.work();
  return { ...work, postgresCpu: cpuSeconds, proxyCpu: pids.reduce((sum, pid) => sum + cpuSecondsOfFamily(pid), 0) };
}

/** Waits until it and Postgres have used less than a tenth of a core for a while. */
export async function settle({ pids }, postgres, longestMs = LONGEST_SETTLING_MS) {
  const used = () => pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), cpuSecondsOfFamily(postgres.pid));
  const end = Date.now() + longestMs;
  let before = used();
  do {
    await sleep(SETTLED_MS);
    const now = used();
    if ((now - before) * 1_000 < SETTLED_MS / 10) return;
    before = now;
  } while (Date.now() < end);
}
