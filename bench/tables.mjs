/** Formats the results of the benchmarks as Markdown. */
import { PRODUCT } from './contestants.mjs';
import { tableOf } from './report.mjs';
import { DISK_STOPS_MS } from './support/disk.mjs';

/** The rows of the matrix. */
const FIRST = { operation: 'airtime', connections: 32, delayMs: 0 };
const BUSY = { operation: 'airtime', connections: 64, delayMs: 20 };
const OPEN = { operation: 'airtime', delayMs: 20, openLoop: true };
const SINGLE = { operation: 'airtime', connections: 1, delayMs: 0 };
const LONG = { operation: 'momo', connections: 1, delayMs: 0 };
const MANY_LONG = { operation: 'momo', connections: 32, delayMs: 0 };

export function matrixTables({ machine, ratios, rounds, seconds, warmUp, rows }) {
  const names = {
    plain: '_plain_',
    'http-proxy-middleware': 'express + http-proxy-middleware',
    floor: '_floor_',
  };
  const first = Object.entries(ratios).map(
    ([name, ratio]) => `${ratio.toFixed(2)} times ${names[name] ?? name}`,
  );
  return [
    `${onWhat(machine)} ${rounds} rounds of ${seconds} ` +
      `s${warmUp === undefined ? '' : `, after ${warmUp.toLocaleString('en')} requests`}. On the first ` +
      `row the product's throughput is ${first.join(', ')}.`,
    ...rows.map((row) => compact(tableOf(row).trim())),
  ].join('\n\n');
}

/** Targets: [figure, limit, properties of the row, measured value]. */
const TARGETS = [
  ['throughput, in times of _plain_', 'at least 6', FIRST, ({ ratios }) => ratios.plain],
  [
    '… of express + http-proxy-middleware',
    'at least 0.65',
    FIRST,
    ({ ratios }) => ratios['http-proxy-middleware'],
  ],
  ['… of _floor_', 'at least 0.45', FIRST, ({ ratios }) => ratios.floor],
  ['write-ahead log of a call', 'at most 5 kB', FIRST, walOfACall],
  ['half capacity, upstream at 20 ms: median latency over direct', 'at most 4 ms', OPEN, over('medianMs')],
  ['… p99 over direct', 'at most 15 ms', OPEN, over('p99Ms')],
  ['1 connection: median latency over direct', 'at most 3 ms', SINGLE, over('medianMs')],
  [
    '64 connections, upstream at 20 ms: throughput, in times of @fastify/http-proxy',
    'at least 0.9',
    BUSY,
    timesFastify,
  ],
  [
    '500 items, 1 connection: CPU of the proxy for a call',
    'at most 30 ms',
    LONG,
    cpuOfACall('proxyCpuPer1000'),
  ],
  ['500 items, 32 connections: CPU of a call in all', 'at most 15 ms', MANY_LONG, cpuOfACall('cpuPer1000')],
  ['… of the proxy', 'at most 30 ms', MANY_LONG, cpuOfACall('proxyCpuPer1000')],
  ['… write-ahead log', 'at most 70 kB', MANY_LONG, walOfACall],
];

export function promisesTable({ ratios, rows }) {
  const lines = TARGETS.flatMap(([figure, target, wanted, measured]) => {
    const isWanted = (one) => Object.entries(wanted).every(([name, value]) => one[name] === value);
    const row = rows.find((one) => !one.idempotencyKeys && one.openLoop === wanted.openLoop && isWanted(one));
    if (!row) return [];
    const value = measured({ ratios, of: (name) => row.contestants.find((one) => one.name === name) });
    return [[figure, target, typeof value === 'number' ? value.toFixed(2) : value]];
  });
  return markdown([['figure', 'target', 'measured'], ...lines]);
}

function timesFastify({ of }) {
  return of(PRODUCT).requestsPerSecond.median / of('fastify-http-proxy').requestsPerSecond.median;
}

function over(figure) {
  return ({ of }) => `${(of(PRODUCT)[figure].median - of('direct')[figure].median).toFixed(1)} ms`;
}

function walOfACall({ of }) {
  return `${(of(PRODUCT).walBytes.median / 1e3).toFixed(1)} kB`;
}

function cpuOfACall(figure) {
  return ({ of }) => `${of(PRODUCT)[figure].median.toFixed(1)} ms`;
}

export function soakTable({ machine, connections, delay, samples }) {
  const [rest, ...load] = samples;
  const whole = load.filter(({ minute }) => Number.isInteger(minute));
  const requests = load.reduce((sum, one) => sum + one.requests, 0);
  const lines = [rest, ...whole].map(({ minute, rssMb }) => [
    `${minute}`,
    `${rssMb.toFixed(0)} MB`,
    '█'.repeat(rssMb / 10),
  ]);
  return [
    `${onWhat(machine)} ${connections} connections, 2 items, the upstream at ${delay} ms: ` +
      `${requests.toLocaleString('en')} requests. Minute 0 is at rest. The maximum of any ten seconds was ` +
      `${Math.max(...samples.map(({ rssMb }) => rssMb)).toFixed(0)} MB.`,
    markdown([['minute', 'RSS', ''], ...lines]),
  ].join('\n\n');
}

export function besideTable({ machine, size, payments, lost, rate, measured }) {
  const lines = measured.map(({ what, seconds, medianMs, p99Ms }) => [
    what,
    `${seconds.toFixed(0)} s`,
    `${medianMs.toFixed(1)} ms`,
    `${p99Ms.toFixed(1)} ms`,
  ]);
  const whole = (value) => value.toLocaleString('en');
  return [
    `${onWhat(machine)} ${rate} payments a second, in an open loop. The resolver settles ` +
      `${whole(lost)} of ${whole(payments)} equal payments, the run has ${whole(size)} payments, and the ` +
      'backlog has their records. During work, the slowest five seconds count.',
    markdown([['during', 'for', 'median', 'p99'], ...lines]),
  ].join('\n\n');
}

/** Names of the loads. */
const BESIDE = {
  beside: 'with all others',
  summaries: 'with summaries only',
  prefixes: 'with searches by prefix only',
  pages: 'with deep pages only',
};

/** States the number of repeated turns of bench:fairness. */
export function againText(again) {
  return `Turns with a stop of the disk of ${DISK_STOPS_MS} ms or more are repeated: ${again} of this run.`;
}

export function fairnessTable({ machine, rows, rate, seconds, rounds, quiet, busy, others, again }) {
  const whole = (value) => value.toLocaleString('en');
  const line = (what, { medianMs, p99Ms, timesP99 = 1, maxMs, failed, cores }) => [
    what,
    `${medianMs.toFixed(1)} ms`,
    `${p99Ms.toFixed(1)} ms`,
    timesP99.toFixed(2),
    `${maxMs.toFixed(0)} ms`,
    `${failed}`,
    cores.proxy.toFixed(2),
    cores.postgres.toFixed(2),
  ];
  const got = Object.entries(others).map(([kind, statuses]) => [
    kind,
    Object.entries(statuses)
      .map(([status, count]) => `${whole(count)} × ${status}`)
      .join(', '),
  ]);
  return [
    `${onWhat(machine)} ${rate} payments a second over a history of ${whole(rows)} calls, ${rounds} ` +
      `rounds of ${seconds} s each. The median of the rounds counts. ${againText(again)}`,
    markdown([
      [
        'payments',
        'median',
        'p99',
        'times quiet',
        'longest',
        'failed',
        'cores of the proxy',
        'cores of Postgres',
      ],
      line('quiet', quiet),
      ...busy.map(({ what, ...figures }) => line(BESIDE[what], figures)),
    ]),
    markdown([['others', 'their answers'], ...got]),
  ].join('\n\n');
}

export function growthTable({ machine, days, rounds, seconds, requests, sizes: now, before }) {
  const sizes = now.flatMap((size) => {
    const then = before?.sizes.find(({ calls }) => calls === size.calls);
    return then ? [{ ...then, isBefore: true }, size] : [size];
  });
  const whole = (value) => value.toLocaleString('en', { maximumFractionDigits: 0 });
  const speedOf = (work) =>
    work ? `${whole(work.callsPerSecond)} (${work.cpuMs.toFixed(2)} ms of CPU each)` : '';
  const figures = [
    ['on disk', ({ bytes }) => `${(bytes / 1e9).toFixed(1)} GB`],
    ['calls filled in a second', ({ filling }) => whole(filling.callsPerSecond)],
    [
      'records sealed in a second',
      ({ sealing }) =>
        sealing
          ? `${whole(sealing.recordsPerSecond)}${sealing.all ? '' : ` (the first ${whole(sealing.records)})`}`
          : '',
    ],
    ['RSS while sealing', ({ sealing }) => (sealing ? `${whole(sealing.rssMb)} MB` : '')],
    [
      'calls inserted in a second',
      ({ insert }) => withRatio(whole(insert.requestsPerSecond.median), insert.ratio),
    ],
    ['CPU of a call: proxy', ({ insert }) => `${insert.proxyCpuMs.median.toFixed(2)} ms`],
    ['CPU of a call: Postgres', ({ insert }) => `${insert.postgresCpuMs.median.toFixed(2)} ms`],
    ['WAL of a call', ({ insert }) => `${(insert.walBytes.median / 1e3).toFixed(1)} kB`],
    ['RSS while inserting', ({ insert }) => `${whole(insert.rssMb.median)} MB`],
    ['calls indexed anew in a second', ({ index }) => speedOf(index?.rebuilding)],
    ['calls whose entries are verified in a second', ({ index }) => speedOf(index?.verifying)],
  ];
  const head = sizes.map(({ calls, isBefore }) => `${whole(calls)} calls${isBefore ? ', before' : ''}`);
  const searched = now[0].searches.map(({ name }) => [
    name,
    ...sizes.map(({ searches }) => {
      const found = searches.find((one) => one.name === name);
      return found ? withRatio(`${found.p95.toFixed(1)} ms`, found.ratio) : '';
    }),
  ]);
  return [
    `${onWhat(machine)} Each history spreads over ${days} days. In brackets: the ratio to the smallest.` +
      (before ? ` Before: ${onWhat(before.machine)}` : ''),
    markdown([['', ...head], ...figures.map(([name, of]) => [name, ...sizes.map(of)])]),
    `Inserting: ${rounds} rounds of ${seconds} s, 32 connections, 2 items, random idempotency keys. p95 ` +
      `of the first page of each filter, over ${rounds * requests} requests:`,
    markdown([['filter', ...head], ...searched]),
  ].join('\n\n');
}

function withRatio(text, ratio) {
  return ratio === 1 ? text : `${text} (${ratio.toFixed(2)})`;
}

export function onWhat({ at, commit, cores, cpu, node }) {
  return `Measured ${at.slice(0, 10)} at ${commit}, ${cores} cores (${cpu}), Node ${node.slice(1)}.`;
}

/** Returns a table without the padding that a terminal needs. */
function compact(text) {
  const narrow = (line) => line.replace(/ +(?=\|)/g, ' ').replace(/\| +/g, '| ');
  return text.replace(/^\|[ |:-]+\|$/gm, (rule) => rule.replace(/-+/g, '---')).replace(/^\|.*\|$/gm, narrow);
}

export function markdown([head, ...body]) {
  const draw = (line) => `| ${line.join(' | ')} |`;
  return compact([draw(head), draw(head.map(() => '---')), ...body.map(draw)].join('\n'));
}
