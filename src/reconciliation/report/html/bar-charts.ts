import { ageLabel } from '../../findings/ageing';
import { Decimal } from 'decimal.js';
import { Category, CATEGORIES, CATEGORY_NAMES } from '../../findings/categories';
import { ReportAge } from '../report.dto';
import { Markup, markup } from './markup';
import { count, decimalsOf, niceCeiling, plural, signedUsd, usd } from './numbers';
import { SumRecord } from '../../matching/totals.dto';

const WIDTH = 560;
const ROW = 30;
/** The columns of the chart: where names end, where bars are drawn, and where numbers end. */
const NAMES = 164;
const BARS = { left: 176, right: 420 };

/**
 * Draws US dollars by category. A bar to the right means that the upstream has more, a bar to the left that it has
 * less.
 */
export function categoryChart(sums: Partial<Record<Category, SumRecord>>): Markup {
  const rows = CATEGORY_NAMES.flatMap((category) => {
    const sum = sums[category];
    return sum && sum.count > 0 ? [{ category, ...sum }] : [];
  });
  // A picture needs no more precision. The numbers beside it are exact.
  const values = rows.map((row) => Number(row.usd));
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const scale = (BARS.right - BARS.left) / (most - least || 1);
  const zero = round(most === least ? BARS.left : BARS.left - least * scale);
  const decimals = Math.min(2, decimalsOf(rows.map((row) => row.usd)));
  const height = rows.length * ROW + 16;
  return markup`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="sums-title sums-desc" class="chart">
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
        <text x="${WIDTH - 4}" y="${y + 19}" class="value end">${signedUsd(row.usd, decimals)}</text></g
      >`;
    })}
    <line x1="${zero}" x2="${zero}" y1="8" y2="${height - 8}" class="axis" />
  </svg>`;
}

const AGE_HEIGHT = 216;
const AGE_PLOT = { left: 10, right: 410, top: 26, bottom: 150 };

/** Draws how many findings wait for a decision, by age. */
export function ageChart(ages: ReportAge[]): Markup {
  const most = niceCeiling(Math.max(1, ...ages.map((age) => age.count)));
  const step = (AGE_PLOT.right - AGE_PLOT.left) / Math.max(1, ages.length);
  return markup`<svg viewBox="0 0 420 ${AGE_HEIGHT}" role="img" aria-labelledby="ages-title ages-desc" class="chart">
    <title id="ages-title">Findings that wait, by days</title>
    <desc id="ages-desc">
      ${ages.map((age) => `${ageLabel(age.days)} days: ${count(age.count)}, ${usd(age.usd)} US dollars`).join('; ')}
    </desc>
    ${ages.map((age, place) => {
      const middle = round(AGE_PLOT.left + (place + 0.5) * step);
      const height = age.count === 0 ? 0 : Math.max(3, (age.count / most) * (AGE_PLOT.bottom - AGE_PLOT.top));
      const top = round(AGE_PLOT.bottom - height);
      return markup`<g
        ><title>${ageLabel(age.days)} days: ${plural(age.count, 'finding')}, ${usd(age.usd)} US dollars</title>
        <rect x="${middle - 26}" y="${top}" width="52" height="${round(height)}" class="age age-${place}" />
        <text x="${middle}" y="${top - 8}" class="value middle">${count(age.count)}</text>
        <text x="${middle}" y="${AGE_PLOT.bottom + 20}" class="name middle">${ageLabel(age.days)}</text>
        <text x="${middle}" y="${AGE_PLOT.bottom + 40}" class="tick middle">${usd(rounded(age.usd))} $</text></g
      >`;
    })}
    <line x1="${AGE_PLOT.left}" x2="${AGE_PLOT.right}" y1="${AGE_PLOT.bottom}" y2="${AGE_PLOT.bottom}" class="axis" />
    <text x="${AGE_PLOT.right}" y="${AGE_HEIGHT - 6}" class="tick end">days since they were found</text>
  </svg>`;
}

function rounded(amount: string): string {
  return new Decimal(amount).toFixed(2);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
