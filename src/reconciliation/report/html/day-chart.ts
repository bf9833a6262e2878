import { Markup, markup } from './markup';
import { brief, count, date, niceCeiling, shortDate } from './numbers';
import { DayRecord } from '../../matching/totals.dto';

/** One bar: a day, or several days of a longer period. */
interface Bar {
  from: Date;
  to: Date;
  matched: number;
  oursOnly: number;
  theirsOnly: number;
}

/** The most bars that can be told apart on paper. */
const MOST_BARS = 62;
const DAY_MS = 86_400_000;

/** Groups days so that they fit on a page: single days, weeks, fortnights, or four weeks. */
export function barsOf(days: DayRecord[]): Bar[] {
  const sorted = [...days].sort((one, other) => (one.day < other.day ? -1 : 1));
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (!first || !last) return [];
  const begin = Date.parse(first.day);
  const length = (Date.parse(last.day) - begin) / DAY_MS + 1;
  const width = [1, 7, 14, 28].find((each) => Math.ceil(length / each) <= MOST_BARS) ?? Math.ceil(length / MOST_BARS);
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

/** Returns how many days one bar stands for. */
export function daysOfBar(days: DayRecord[]): number {
  const [bar] = barsOf(days);
  return bar ? (bar.to.getTime() - bar.from.getTime()) / DAY_MS + 1 : 1;
}

const [WIDTH, HEIGHT] = [1_000, 260];
const PLOT = { left: 58, right: 978, top: 14, bottom: 216 };
/** The least height of a bar, so that a small amount beside a large one stays visible. */
const LEAST = 3;
const WIDEST = 44;
const LABELS = 12;

/** Draws payments by day, stacked: matched payments below, and those that only one side has above. */
export function dayChart(days: DayRecord[]): Markup {
  const bars = barsOf(days);
  const most = niceCeiling(Math.max(1, ...bars.map((bar) => bar.matched + bar.oursOnly + bar.theirsOnly)));
  const step = (PLOT.right - PLOT.left) / Math.max(1, bars.length);
  const every = Math.ceil(bars.length / LABELS);
  return markup`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="days-title days-desc" class="chart">
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
    ${bars.map((bar, place) => place % every === 0 && label(bar, PLOT.left + (place + 0.5) * step)).filter(Boolean) as Markup[]}
  </svg>`;
}

function gridLine(part: number, most: number): Markup {
  const y = round(PLOT.bottom - part * (PLOT.bottom - PLOT.top));
  const value = part * most;
  return markup`<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y}" y2="${y}" class="${part === 0 ? 'axis' : 'grid'}" />
    ${Number.isInteger(value) && markup`<text x="${PLOT.left - 8}" y="${y + 4}" class="tick end">${brief(value)}</text>`}`;
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
  return `${sum((bar) => bar.matched)} payments matched, ${sum((bar) => bar.oursOnly)} are only in our records, ${sum((bar) => bar.theirsOnly)} only at the upstream.`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
