/**
 * The capacity of a cell, computed from the measured costs of a call and three facts of the source: a proxy's
 * JavaScript is one thread, one worker indexes at a time, and a call waits for two commits.
 */

/** The share of a limit that a cell should use in normal times. Queues grow fast beyond it. */
const USE = 0.5;

/** Rates to plan for, in calls per second at the peak. */
const RATES = [10, 100, 1_000, 10_000];

/** Commit latencies in ms: a local NVMe disk, a cloud disk, a standby in another zone, or region. */
const COMMIT_MS = [0.1, 1, 5, 20];

/** Bandwidths of the write-ahead log, in MB/s: a standby at 1 Gbit/s, and a common cloud disk. */
const WAL_MB = [125, 250];

/** A call waits for its own two commits, and on average for half of the batch before, twice. */
const COMMITS_WAITED = 3;

/** The case whose figures count: many calls at once, so that batches are large, but not only waits. */
const TYPICAL = { syncMs: 0, connections: 32 };

/**
 * @param measured of bench/scaling/capacity.mjs, for cases with and without a worker.
 * @returns what a call costs: CPU in ms by process, with the part of Postgres that the worker causes, and
 * bytes of WAL.
 */
export function costsOf(measured, { syncMs, connections } = TYPICAL) {
  const find = (worker) =>
    measured.find((one) => one.syncMs === syncMs && one.connections === connections && one.worker === worker);
  const [whole, bare] = [find(true), find(false)];
  return {
    proxyMs: whole.proxyCpuMs,
    workerMs: whole.workerCpuMs,
    postgresMs: whole.postgresCpuMs,
    deferredMs: whole.postgresCpuMs - bare.postgresCpuMs,
    walBytes: whole.walBytes,
    commits: whole.commits,
  };
}

/** Returns the limits of a cell in calls per second, each with its remedy. */
export function limitsOf({ proxyMs, workerMs, postgresMs, deferredMs, walBytes }) {
  return [
    {
      what: 'one proxy process (its JavaScript is one thread)',
      rate: 1_000 / proxyMs,
      raise: 'more processes',
    },
    { what: 'one core of Postgres', rate: 1_000 / postgresMs, raise: 'more cores, up to a machine' },
    {
      what: 'one core for all: proxy, worker and Postgres',
      rate: 1_000 / (proxyMs + workerMs + postgresMs),
      raise: 'more cores',
    },
    {
      what: 'the index and the seals, as if one backend did both',
      rate: 1_000 / deferredMs,
      raise: 'nothing but another cell',
    },
    ...WAL_MB.map((mb) => ({
      what: `a write-ahead log of ${mb} MB/s`,
      rate: (mb * 1e6) / walBytes,
      raise: 'a faster disk and network',
    })),
  ];
}

/** Returns the largest rate of a cell at which each resource that machines cannot add stays in its share. */
export function rateOfACell(costs) {
  const fixed = limitsOf(costs).filter(
    ({ raise }) => raise !== 'more processes' && !raise.startsWith('more cores'),
  );
  return USE * Math.min(...fixed.map(({ rate }) => rate));
}

/** Returns what each rate needs, with every process and core used by its share. */
export function needsOf(costs, bytesPerCall) {
  const each = rateOfACell(costs);
  return RATES.map((rate) => {
    const cells = Math.ceil(rate / each);
    const inACell = rate / cells;
    return {
      rate,
      cells,
      processes: Math.ceil((inACell * costs.proxyMs) / 1_000 / USE) * cells,
      postgresCores: Math.ceil((inACell * costs.postgresMs) / 1_000 / USE) * cells,
      walMbPerSecond: (inACell * costs.walBytes) / 1e6,
      gbPerDay: (rate * 86_400 * bytesPerCall) / 1e9,
    };
  });
}

/** Returns the latency that commits add to a call, and the calls in flight for it (Little's law). */
export function commitWaits(rate) {
  return COMMIT_MS.map((commitMs) => ({
    commitMs,
    addedMs: COMMITS_WAITED * commitMs,
    inFlight: (rate * COMMITS_WAITED * commitMs) / 1_000,
  }));
}
