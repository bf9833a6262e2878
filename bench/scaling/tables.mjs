/** The tables of docs/operate/scaling.md, as Markdown. */
import { rounded } from './figures.mjs';
import { commitWaits, costsOf, limitsOf, needsOf, rateOfACell } from './model.mjs';

const RATE_OF_WAITS = 1_000;
const inWords = (value) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });

export function capacityTable({ machine, diskSyncMs, seconds, rounds, measured }) {
  const head = [
    'commit waits',
    'connections',
    'calls a batch',
    'commits a call',
    'WAL kB',
    'proxy ms',
    'worker ms',
    'Postgres ms',
    '… without a worker',
  ];
  const rows = measured
    .filter(({ worker }) => worker)
    .map((one) => [
      one.syncMs === 0 ? `the disk (${diskSyncMs} ms)` : `+${one.syncMs} ms`,
      one.connections,
      rounded(one.rowsPerAdmission, 1),
      rounded(one.commits, 2),
      rounded(one.walBytes / 1_000, 1),
      rounded(one.proxyCpuMs, 2),
      rounded(one.workerCpuMs, 2),
      rounded(one.postgresCpuMs, 2),
      rounded(
        measured.find(
          (other) => !other.worker && other.syncMs === one.syncMs && other.connections === one.connections,
        ).postgresCpuMs,
        2,
      ),
    ]);
  return (
    `${onWhat(machine)} Medians of ${rounds} turns of ${seconds} s. CPU, WAL and commits are of a call ` +
    `with two payouts.\n\n${markdown([head, ...rows])}`
  );
}

export function limitsTable({ measured }) {
  const rows = limitsOf(costsOf(measured)).map(({ what, rate, raise }) => [what, inWords(rate), raise]);
  return markdown([['limit', 'calls/s', 'what raises it'], ...rows]);
}

/** @param sizes of bench/results/growth.json: the largest history has the size of a call on disk. */
export function needsTable({ measured }, { sizes }) {
  const costs = costsOf(measured);
  const { bytes, calls } = sizes.at(-1);
  const head = [
    'calls/s at the peak',
    'cells',
    'proxy processes',
    'cores of Postgres',
    'WAL of a cell, MB/s',
    'on disk in a day at this rate, GB',
  ];
  const rows = needsOf(costs, bytes / calls).map((one) => [
    inWords(one.rate),
    one.cells,
    one.processes,
    one.postgresCores,
    inWords(one.walMbPerSecond),
    inWords(one.gbPerDay),
  ]);
  const text =
    `A cell serves up to ${inWords(rateOfACell(costs))} calls/s at half of its smallest fixed limit. A ` +
    `million calls take ${rounded((bytes / calls) * 1e-3, 1)} GB of tables and indexes (of ` +
    `${inWords(calls)} calls, by \`bench:growth\`) and ${rounded(costs.walBytes * 1e-3, 1)} GB of ` +
    'write-ahead log.';
  return `${text}\n\n${markdown([head, ...rows])}`;
}

export function waitsTable({ measured }) {
  const at = (syncMs, connections) =>
    measured.find((one) => one.worker && one.syncMs === syncMs && one.connections === connections);
  const [first, last] = [at(0, 1), measured.findLast((one) => one.worker && one.connections === 1)];
  const rows = commitWaits(RATE_OF_WAITS).map((one) => [
    `${one.commitMs} ms`,
    `${inWords(one.addedMs)} ms`,
    inWords(one.inFlight),
  ]);
  const text =
    `Measured at one connection: ${last.syncMs} ms more for each commit raised the median from ` +
    `${rounded(first.medianMs, 1)} to ${rounded(last.medianMs, 1)} ms.`;
  const head = ['a commit waits', 'a call waits', `in flight for it at ${inWords(RATE_OF_WAITS)} calls/s`];
  return `${text}\n\n${markdown([head, ...rows])}`;
}

export function routingTable({ machine, connections, seconds, rounds, measured }) {
  const head = [
    'commit waits',
    'clients',
    'caps',
    'routed to',
    'calls a batch',
    'commits a call',
    'WAL kB',
    'proxy ms',
    'Postgres ms',
    'lock waits, ms a call',
  ];
  const rows = measured.map((one) => [
    one.syncMs === 0 ? 'the disk' : `+${one.syncMs} ms`,
    one.clients,
    one.capped ? 'yes' : 'no',
    one.process === 'any' ? 'any process' : 'one process each',
    rounded(one.rowsPerAdmission, 1),
    rounded(one.commits, 2),
    rounded(one.walBytes / 1_000, 2),
    rounded(one.proxyCpuMs, 2),
    rounded(one.postgresCpuMs, 2),
    rounded(one.lockWaitMs, 2),
  ]);
  return (
    `${onWhat(machine)} Two processes, ${connections} connections, medians of ${rounds} turns of ` +
    `${seconds} s.\n\n${markdown([head, ...rows])}`
  );
}

export function cellsTable({ options, measured }) {
  const head = [
    'cells',
    'what happens',
    'placed by',
    'calls refused',
    'clients hit',
    'worst client served',
    'largest use of a cell',
    'capacity each cell needs',
  ];
  const percent = (share, digits) => `${rounded(share * 100, digits)} %`;
  const rows = measured.map((one) => [
    one.cells,
    one.scenario,
    one.placement,
    percent(one.refusedShare, 2),
    percent(one.clientsHitShare, 0),
    percent(one.worstAvailability, 1),
    percent(one.largestUse, 0),
    `${rounded(one.capacityNeeded, 2)} times`,
  ]);
  const text =
    `${options.clients} clients with loads of a Pareto distribution (exponent ${options.tail}), half of ` +
    `all capacity used (\`--use ${options.use}\`), ${options.minutes} minutes, a failover of ` +
    `${options.failover} s, an outage of ${options.outage} s, calls refused after ${options.patience} s, ` +
    `seed ${options.seed}.`;
  return `${text}\n\n${markdown([head, ...rows])}`;
}

function onWhat({ at, commit, cores, cpu, node }) {
  return `Measured ${at.slice(0, 10)} at ${commit}, ${cores} cores (${cpu}), Node ${node.slice(1)}.`;
}

function markdown(rows) {
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return [lines[0], `| ${rows[0].map(() => '---').join(' | ')} |`, ...lines.slice(1)].join('\n');
}
