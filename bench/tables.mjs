/** What the results of the benchmarks look like in Markdown, as prettier would lay it out. */
import { tableOf } from './report.mjs';

export function matrixTables({ machine, ratios, rounds, seconds, rows }) {
  const names = { plain: '*plain*', 'http-proxy-middleware': 'express + http-proxy-middleware', floor: '*floor*' };
  const first = Object.entries(ratios).map(([name, ratio]) => `${ratio.toFixed(2)} times ${names[name] ?? name}`);
  return [
    `${onWhat(machine)} ${rounds} rounds of ${seconds} s. On the first row the product's throughput is ${first.join(', ')}.`,
    ...rows.map((row) => tableOf(row).trim()),
  ].join('\n\n');
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
    `${onWhat(machine)} ${connections} connections, 2 items, the upstream at ${delay} ms: ${requests.toLocaleString('en')} requests. Minute 0 is at rest.`,
    markdown([['minute', 'RSS', ''], ...lines]),
  ].join('\n\n');
}

export function footprintTable({ machine, ...figures }) {
  const seconds = (value) => `${value.toFixed(2)} s`;
  const lines = [
    [
      'a start: Postgres is there, its tables too',
      `${seconds(figures.startSeconds)}, of CPU ${seconds(figures.startCpuSeconds)}`,
    ],
    ['the very first start: Postgres of its own, all tables, the sandbox', seconds(figures.firstStartSeconds)],
    ["memory at rest, the proxy's own process", `${figures.rssAtRestMb.toFixed(0)} MB`],
    [
      '`npm ci --omit=dev`',
      `${figures.packagesMb} MB, and ${figures.embeddedPostgresMb} MB of Postgres for those who have none`,
    ],
    ['the built product', `${figures.builtMb} MB`],
  ];
  return [onWhat(machine), markdown([['what', 'figure'], ...lines])].join('\n\n');
}

export function growthTable() {
  return '';
}

function onWhat({ at, commit, cores, cpu, node }) {
  return `Measured ${at.slice(0, 10)} at ${commit}, ${cores} cores (${cpu}), Node ${node.slice(1)}.`;
}

function markdown(lines) {
  const widths = lines[0].map((_, column) => Math.max(3, ...lines.map((line) => [...line[column]].length)));
  const pad = (text, width) => text + ' '.repeat(width - [...text].length);
  const draw = (line) => `| ${line.map((text, column) => pad(text, widths[column])).join(' | ')} |`;
  const [head, ...body] = lines;
  return [draw(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(draw)].join('\n');
}
