/** Turns measurements into a report. */
import { PRODUCT } from './contestants.mjs';

const RATIOS_TO = ['plain', 'http-proxy-middleware', 'fastify-http-proxy', 'floor', `${PRODUCT}-tokens`];

/** @param cells the result of each round, by contestant. */
export function summarize(cells) {
  return [...cells].map(([name, rounds]) => ({
    name,
    ...Object.fromEntries(
      Object.keys(rounds[0])
        .filter((figure) => figure !== 'failures')
        .map((figure) => [figure, spread(rounds.map((round) => round[figure]))]),
    ),
    failures: rounds.flatMap(({ failures }) => failures),
    rounds: rounds.map(({ requestsPerSecond }) => requestsPerSecond),
    waited: rounds.map(({ waitedShare }) => rounded(waitedShare)),
    others: rounds.map(({ otherCores }) => rounded(otherCores)),
  }));
}

/** Returns the ratio of the product's throughput to the others': the median over rounds of neighbors. */
export function ratiosOf({ contestants }) {
  const of = (name) => contestants.find((one) => one.name === name)?.rounds;
  const ours = of(PRODUCT);
  if (!ours) return {};
  const ratio = (theirs) => round(median(ours.map((rate, place) => rate / theirs[place])), 3);
  return Object.fromEntries(RATIOS_TO.flatMap((name) => (of(name) ? [[name, ratio(of(name))]] : [])));
}

/** The title of each column, its figure, its digits and the factor that it is shown with. */
const COLUMNS = [
  ['CPU s/1,000 in all', 'cpuPer1000', 2],
  ['WAL MB/1,000', 'walBytes', 2, 1 / 1_000],
  ['requests/s', 'requestsPerSecond', 0],
  ['of ours'],
  ['capacity', 'capacity', 0],
  ['median ms', 'medianMs', 2],
  ['p99 ms', 'p99Ms', 1],
  ['CPU s/1,000: proxy', 'proxyCpuPer1000', 3],
  ['worker', 'workerCpuPer1000', 3],
  ['Postgres', 'postgresCpuPer1000', 3],
  ['load', 'loadCpuPer1000', 3],
  ['commits', 'commits', 2],
  ['RSS MB', 'rssMb', 0],
  ['waited', 'waitedShare', 2],
  ['others', 'otherCores', 2],
];

function shown(one, ours, [title, figure, digits, factor = 1]) {
  if (title === 'of ours')
    return ours ? fixed(one.requestsPerSecond.median / ours.requestsPerSecond.median, 2) : '';
  const { median = null, low, high } = one[figure] ?? {};
  if (median === null) return '';
  const text = fixed(median * factor, digits);
  return figure === 'requestsPerSecond' ? `${text} (${fixed(low, 0)}–${fixed(high, 0)})` : text;
}

/** Returns a row of the matrix as a Markdown table that is also readable as text. */
export function tableOf({ name, contestants }) {
  const ours = contestants.find((one) => one.name === PRODUCT);
  const columns = COLUMNS.map((column) => [column[0], ...contestants.map((one) => shown(one, ours, column))]);
  const filled = [['', ...contestants.map(({ name: who }) => who)]].concat(
    columns.filter(([, ...cells]) => cells.some((text) => text !== '')),
  );
  const lines = filled[0].map((_, place) => filled.map((column) => column[place]));
  const widths = lines[0].map((_, column) => Math.max(3, ...lines.map((line) => line[column].length)));
  const drawCells = (cells) => `| ${cells.join(' | ')} |`;
  const draw = ([label, ...cells]) =>
    drawCells([label.padEnd(widths[0]), ...cells.map((text, column) => text.padStart(widths[column + 1]))]);
  const [first, ...others] = widths;
  const rule = drawCells(['-'.repeat(first), ...others.map((width) => `${'-'.repeat(width - 1)}:`)]);
  const [head, ...body] = lines;
  const failed = contestants.filter(({ failures }) => failures.length > 0);
  return [
    `\n### ${name}\n`,
    draw(head),
    rule,
    ...body.map(draw),
    ...failed.map(
      (one) =>
        `${one.name} failed: ${one.failures.map(([text, times]) => `${times} times ${text}`).join('; ')}`,
    ),
  ].join('\n');
}

function spread(values) {
  const known = values.filter((value) => value !== null && Number.isFinite(value));
  if (known.length === 0) return { median: null, low: null, high: null };
  return {
    median: round(median(known), 4),
    low: round(Math.min(...known), 4),
    high: round(Math.max(...known), 4),
  };
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function rounded(value) {
  return value === null ? null : round(value, 3);
}

function round(value, digits) {
  return Number(value.toFixed(digits));
}

function fixed(value, digits) {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
