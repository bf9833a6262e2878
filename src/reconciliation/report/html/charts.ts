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

const ROW = 30;

/** Columns of a bar chart: end of names, start and end of bars, end of numbers. */
type BarColumns = Record<'names' | 'left' | 'right' | 'width', number>;
const CATEGORY_COLUMNS: BarColumns = { names: 164, left: 176, right: 420, width: 560 };
const AGE_COLUMNS: BarColumns = { names: 72, left: 84, right: 230, width: 420 };

/** A row of a bar chart, with its description. */
interface BarRow {
  name: string;
  value: number;
  text: string;
  tip: string;
  look: string;
}

/** Draws US dollars by category. A bar to the right means more at the upstream, a bar to the left less. */
export function categoryChart(sums: Partial<Record<Category, SumRecord>>): Markup {
  const found = CATEGORY_NAMES.flatMap((category) => {
    const sum = sums[category];
    return sum && sum.count > 0 ? [{ category, ...sum }] : [];
  });
  const decimals = Math.min(2, decimalsOf(found.map((sum) => sum.usd)));
  const rows = found.map(({ category, usd: amount, count: many }): BarRow => {
    const value = Number(amount); // A chart needs no more precision. The numbers next to it are exact.
    const text = signedUsd(amount, decimals);
    const tip = `${CATEGORIES[category].title}: ${signedUsd(amount)} US dollars, ${plural(many, 'finding')}`;
    return { name: category, value, text, tip, look: value < 0 ? 'less' : 'more' };
  });
  return barChart('sums', 'US dollars by category', rows, CATEGORY_COLUMNS);
}

/** Draws the number of findings that await a decision, by age. */
export function ageChart(ages: ReportAge[]): Markup {
  const rows = ages.map(({ days, count: many, usd: amount }, place): BarRow => {
    const name = `${ageLabel(days)} days`;
    const tip = `${name}: ${plural(many, 'finding')}, ${usd(amount)} US dollars`;
    const text = `${count(many)} · ${usd(new Decimal(amount).toFixed(2))} $`;
    return { name, value: many, text, tip, look: `age age-${place}` };
  });
  return barChart('ages', 'Findings that wait, by days', rows, AGE_COLUMNS);
}

function barChart(name: string, title: string, rows: BarRow[], columns: BarColumns): Markup {
  const { names, left, right, width: whole } = columns;
  const values = rows.map(({ value }) => value);
  const least = Math.min(0, ...values);
  const scale = (right - left) / (Math.max(0, ...values) - least || 1);
  const zero = round(left - least * scale);
  const height = rows.length * ROW + 16;
  return markup`<svg ${attributes(whole, height, name)}>
    <title id="${name}-title">${title}</title>
    <desc id="${name}-desc">${rows.map(({ tip }) => tip).join('; ')}</desc>
    ${rows.map(({ name: label, value, text, tip, look }, place) => {
      const y = place * ROW + 8;
      const width = value === 0 ? 0 : Math.max(2, Math.abs(value) * scale);
      const x = round(value < 0 ? zero - width : zero);
      return markup`<g
        ><title>${tip}</title>
        <text x="${names}" y="${y + 19}" class="end">${label}</text>
        <rect x="${x}" y="${y + 6}" width="${round(width)}" height="${ROW - 12}" class="${look}" />
        <text x="${whole - 4}" y="${y + 19}" class="value end">${text}</text></g
      >`;
    })}
    <line x1="${zero}" x2="${zero}" y1="8" y2="${height - 8}" class="axis" />
  </svg>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Numbers of payments of some days. */
interface DaySums {
  matched: number;
  oursOnly: number;
  theirsOnly: number;
}

/** A bar: a day, or several days of a longer period. */
interface Bar extends DaySums {
  from: Date;
  to: Date;
}

export function sumDays(days: DayRecord[]): DaySums {
  const sum = (of: 'matched' | 'ours_only' | 'theirs_only') =>
    days.reduce((total, day) => total + day[of], 0);
  return { matched: sum('matched'), oursOnly: sum('ours_only'), theirsOnly: sum('theirs_only') };
}

/** Maximum number of distinguishable bars on paper. */
const MOST_BARS = 62;
const DAY_MS = 86_400_000;

/** Groups days to fit a page: single days, weeks, fortnights, or four weeks. */
export function barsOf(days: DayRecord[]): Bar[] {
  if (days.length === 0) return [];
  const numbers = days.map(({ day }) => Date.parse(day) / DAY_MS);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const length = last - first + 1;
  const width =
    [1, 7, 14, 28].find((each) => Math.ceil(length / each) <= MOST_BARS) ?? Math.ceil(length / MOST_BARS);
  return Array.from({ length: Math.ceil(length / width) }, (_, place) => {
    const from = first + place * width;
    const to = Math.min(last, from + width - 1);
    const own = days.filter((_day, index) => numbers[index]! >= from && numbers[index]! <= to);
    return { from: new Date(from * DAY_MS), to: new Date(to * DAY_MS), ...sumDays(own) };
  });
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
    <desc id="days-desc">${describe(sumDays(days))}</desc>
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

function tip(bar: Bar): string {
  const { from, to } = bar;
  const days = from.getTime() === to.getTime() ? date(from) : `${shortDate(from)} – ${date(to)}`;
  return `${days}: ${describe(bar)}`;
}

function describe({ matched, oursOnly, theirsOnly }: DaySums): string {
  return `${count(matched)} matched, ${count(oursOnly)} only ours, ${count(theirsOnly)} only theirs`;
}
