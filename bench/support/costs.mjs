/** Measures what a running product and its Postgres use, and waits for their deferred work. */
import { setTimeout as sleep } from 'node:timers/promises';
import { busySeconds, cpuSecondsOf, cpuSecondsOfFamily, waitSecondsOf } from './processes.mjs';

/** Deferred work (sealing, indexing) belongs to its contestant, so the next one waits until it is done. */
const SETTLED_MS = 300;
const LONGEST_SETTLING_MS = 120_000;

/**
 * Returns the totals so far, of which two are subtracted.
 * @param hasWorker whether its descendants do background work. Those of other contestants answer requests.
 */
export async function costs({ pids, hasWorker }, postgres) {
  const { cpuSeconds, ...work } = await postgres.work();
  const all = cpuSecondsOfFamily(...pids);
  const proxyCpu = hasWorker ? sum(pids.map(cpuSecondsOf)) : all;
  return { ...work, cpu: all + cpuSeconds, proxyCpu, workerCpu: all - proxyCpu, postgresCpu: cpuSeconds };
}

/**
 * Returns the noise of a measurement in seconds, of which two are subtracted: the time that main threads
 * waited for a core, and the time that other processes used one.
 */
export function conditions({ pids }, postgres) {
  const waited = sum(pids.map(waitSecondsOf));
  return { waited, others: busySeconds() - cpuSecondsOfFamily(process.pid, postgres.pid) };
}

/**
 * Waits until the product and Postgres have used less than a tenth of a core for a while.
 * @throws if they stay busy, because their work would count for the next contestant.
 */
export async function settle({ name = 'payout-proxy', pids }, postgres) {
  const used = () => cpuSecondsOfFamily(...pids, postgres.pid);
  const end = Date.now() + LONGEST_SETTLING_MS;
  let before = used();
  do {
    await sleep(SETTLED_MS);
    const now = used();
    if ((now - before) * 1_000 < SETTLED_MS / 10) return;
    before = now;
  } while (Date.now() < end);
  throw new Error(`${name} was still busy ${LONGEST_SETTLING_MS / 1_000} s after its last answer`);
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
