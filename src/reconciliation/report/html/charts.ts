import { Decimal } from 'decimal.js';
import { ageLabel } from '../../findings/ageing';
import { Category, CATEGORIES, CATEGORY_NAMES } from '../../findings/categories';
import { SumRecord, DayRecord } from '../../matching/totals.dto';
import { ReportAge } from '../report.dto';
import { Markup, markup } from './markup';
import { count, decimalsOf, niceCeiling, plural, signedUsd, usd, brief, date, shortDate } from './numbers';

/** Returns the attributes of a chart. Its `<title>` and `<desc>` have the IDs of its name. */
function attributes(width: number, height: number, name: string): Markup {
  const labels = `${name}-title ${name}-desc`;
  return markup`viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${labels}" class="chart"`;
}

const BAR_WIDTH = 560;
const ROW = 30;
/** Columns of the chart: end of names, start of bars, end of numbers. */
const NAMES = 164;
const BARS = { left: 176, right: 420 };

/** Draws US dollars by category. A bar to the right means more at the upstream, a bar to the left less. */
export function categoryChart(sums: Partial<Record<Category, SumRecord>>): Markup {
  const rows = CATEGORY_NAMES.flatMap((category) => {
    const sum = sums[category];
    return sum && sum.count > 0 ? [{ category, ...sum }] : [];
  });
  // A chart needs no more precision. The numbers next to it are exact.
  const values = rows.map((row) => Number(row.usd));
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const scale = (BARS.right - BARS.left) / (most - least || 1);
  const zero = round(most === least ? BARS.left : BARS.left - least * scale);
  const decimals = Math.min(2, decimalsOf(rows.map((row) => row.usd)));
  const height = rows.length * ROW + 16;
  return markup`<svg ${attributes(BAR_WIDTH, height, 'sums')}>
    <title id="sums-title">US dollars by category</title>
    <desc id="sums-desc">${rows.map((row) => `${row.category}: ${signedUsd(row.usd)}`).join('; ')}</desc>
    ${rows.map((row, place) => {
      const [y, value] = [place * ROW + 8, Number(row.usd)];
      const width = value === 0 ? 0 : Math.max(2, Math.abs(value) * scale);
      return markup`<g
        ><title>
          ${CATEGORIES[row.category].title}: ${signedUsd(row.usd)} US dollars, ${plural(row.count, 'finding')}
        </title>
        <text x="${NAMES}" y="${y + 19}" class="name end">${row.category}</text>
        <rect
          x="${round(value < 0 ? zero - width : zero)}"
          y="${y + 6}"
          width="${round(width)}"
          height="${ROW - 12}"
          class="${value < 0 ? 'less' : 'more'}"
        />
        <text x="${BAR_WIDTH - 4}" y="${y + 19}" class="value end">${signedUsd(row.usd, decimals)}</text></g
      >`;
    })}
    <line x1="${zero}" x2="${zero}" y1="8" y2="${height - 8}" class="axis" />
  </svg>`;
}

const AGE_HEIGHT = 216;
const AGE_PLOT = { left: 10, right: 410, top: 26, bottom: 150 };

/** Draws the number of findings that await a decision, by age. */
export function ageChart(ages: ReportAge[]): Markup {
  const most = niceCeiling(Math.max(1, ...ages.map((age) => age.count)));
  const { left, right, top: ceiling, bottom } = AGE_PLOT;
  const describeAge = (age: ReportAge) =>
    `${ageLabel(age.days)} days: ${plural(age.count, 'finding')}, ${usd(age.usd)} US dollars`;
  const step = (right - left) / Math.max(1, ages.length);
  return markup`<svg ${attributes(420, AGE_HEIGHT, 'ages')}>
    <title id="ages-title">Findings that wait, by days</title>
    <desc id="ages-desc">${ages.map(describeAge).join('; ')}</desc>
    ${ages.map((age, place) => {
      const middle = round(left + (place + 0.5) * step);
      const height = age.count === 0 ? 0 : Math.max(3, (age.count / most) * (bottom - ceiling));
      const top = round(bottom - height);
      return markup`<g
        ><title>${describeAge(age)}</title>
        <rect x="${middle - 26}" y="${top}" width="52" height="${round(height)}" class="age age-${place}" />
        <text x="${middle}" y="${top - 8}" class="value middle">${count(age.count)}</text>
        <text x="${middle}" y="${bottom + 20}" class="name middle">${ageLabel(age.days)}</text>
        <text x="${middle}" y="${bottom + 40}" class="tick middle">${usd(rounded(age.usd))} $</text></g
      >`;
    })}
    <line x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}" class="axis" />
    <text x="${right}" y="${AGE_HEIGHT - 6}" class="tick end">days since they were found</text>
  </svg>`;
}

function rounded(amount: string): string {
  return new Decimal(amount).toFixed(2);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** A bar: a day, or several days of a longer period. */
interface Bar {
  from: Date;
  to: Date;
  matched: number;
  oursOnly: number;
  theirsOnly: number;
}

/** Maximum number of distinguishable bars on paper. */
const MOST_BARS = 62;
const DAY_MS = 86_400_000;

/** Groups days to fit a page: single days, weeks, fortnights, or four weeks. */
export function barsOf(days: DayRecord[]): Bar[] {
  const sorted = [...days].sort((one, other) => (one.day < other.day ? -1 : 1));
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (!first || !last) return [];
  const begin = Date.parse(first.day);
  const length = (Date.parse(last.day) - begin) / DAY_MS + 1;
  const width =
    [1, 7, 14, 28].find((each) => Math.ceil(length / each) <= MOST_BARS) ?? Math.ceil(length / MOST_BARS);
  const bars = Array.from({ length: Math.ceil(length / width) }, (_, place) => ({
    from: new Date(begin + place * width * DAY_MS),
    to: new Date(begin + (Math.min(length, (place + 1) * width) - 1) * DAY_MS),
    matched: 0,
    oursOnly: 0,
    theirsOnly: 0,
  }));
  for (const day of sorted) {
    const bar = bars[Math.floor((Date.parse(day.day) - begin) / DAY_MS / width)];
    if (!bar) continue;
    bar.matched += day.matched;
    bar.oursOnly += day.ours_only;
    bar.theirsOnly += day.theirs_only;
  }
  return bars;
}

/** Returns the number of days per bar. */
export function daysOfBar(days: DayRecord[]): number {
  const [bar] = barsOf(days);
  return bar ? (bar.to.getTime() - bar.from.getTime()) / DAY_MS + 1 : 1;
}

const [WIDTH, HEIGHT] = [1_000, 260];
const PLOT = { left: 58, right: 978, top: 14, bottom: 216 };
/** Minimum height of a bar. It keeps a small amount next to a large one visible. */
const LEAST = 3;
const WIDEST = 44;
const LABELS = 12;

/** Draws payments by day, stacked: matched payments below, one-sided payments above. */
export function dayChart(days: DayRecord[]): Markup {
  const bars = barsOf(days);
  const most = niceCeiling(Math.max(1, ...bars.map((bar) => bar.matched + bar.oursOnly + bar.theirsOnly)));
  const step = (PLOT.right - PLOT.left) / Math.max(1, bars.length);
  const every = Math.ceil(bars.length / LABELS);
  const labelAt = (bar: Bar, index: number) =>
    index % every === 0 ? [label(bar, PLOT.left + (index + 0.5) * step)] : [];
  return markup`<svg ${attributes(WIDTH, HEIGHT, 'days')}>
    <title id="days-title">Payments by day</title>
    <desc id="days-desc">${describe(bars)}</desc>
    <defs>
      <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="6" height="6" class="theirs" />
        <rect width="2.4" height="6" class="stripe" />
      </pattern>
    </defs>
    ${[0, 0.25, 0.5, 0.75, 1].map((part) => gridLine(part, most))}
    ${bars.map((bar, place) => stack(bar, PLOT.left + place * step, step, most))}
    ${bars.flatMap(labelAt)}
  </svg>`;
}

function gridLine(part: number, most: number): Markup {
  const y = round(PLOT.bottom - part * (PLOT.bottom - PLOT.top));
  const value = part * most;
  const look = part === 0 ? 'axis' : 'grid';
  const tick = markup`<text x="${PLOT.left - 8}" y="${y + 4}" class="tick end">${brief(value)}</text>`;
  return markup`<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y}" y2="${y}" class="${look}" />
    ${Number.isInteger(value) && tick}`;
}

function stack(bar: Bar, left: number, step: number, most: number): Markup {
  const width = Math.min(WIDEST, step * 0.72);
  const x = round(left + (step - width) / 2);
  let bottom = PLOT.bottom;
  const part = (value: number, look: string) => {
    if (value === 0) return undefined;
    const height = Math.max(LEAST, (value / most) * (PLOT.bottom - PLOT.top));
    bottom -= height;
    return markup`<rect
      x="${x}"
      y="${round(bottom)}"
      width="${round(width)}"
      height="${round(height)}"
      class="${look}"
    />`;
  };
  return markup`<g
    ><title>${tip(bar)}</title
    >${part(bar.matched, 'matched')}${part(bar.oursOnly, 'ours')}${part(bar.theirsOnly, 'hatched')}</g
  >`;
}

function label({ from }: Bar, x: number): Markup {
  return markup`<text x="${round(x)}" y="${PLOT.bottom + 20}" class="tick middle">${shortDate(from)}</text>`;
}

function tip({ from, to, matched, oursOnly, theirsOnly }: Bar): string {
  const days = from.getTime() === to.getTime() ? date(from) : `${shortDate(from)} – ${date(to)}`;
  return `${days}: ${count(matched)} matched, ${count(oursOnly)} only ours, ${count(theirsOnly)} only theirs`;
}

function describe(bars: Bar[]): string {
  const sum = (of: (bar: Bar) => number) => count(bars.reduce((total, bar) => total + of(bar), 0));
  return (
    `${sum((bar) => bar.matched)} payments matched, ${sum((bar) => bar.oursOnly)} are only in our records, ` +
    `${sum((bar) => bar.theirsOnly)} only at the upstream.`
  );
}
