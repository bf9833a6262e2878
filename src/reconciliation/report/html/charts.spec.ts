import fc from 'fast-check';
import { DayRecord } from '../../matching/totals.dto';
import { ageChart, categoryChart, barsOf, dayChart, daysOfBar } from './charts';
import { markup } from './markup';

const FIRST = Date.UTC(2025, 9, 1);

function day(place: number, matched = 1, oursOnly = 0, theirsOnly = 0): DayRecord {
  const at = new Date(FIRST + place * 86_400_000).toISOString().slice(0, 10);
  return { day: at, matched, ours_only: oursOnly, theirs_only: theirsOnly, ours_usd: '1', theirs_usd: '1' };
}

const days = (length: number) => Array.from({ length }, (_, place) => day(place));
const heights = (svg: string, look: string) =>
  [...svg.replace(/\s+/g, ' ').matchAll(new RegExp(`height="([\\d.]+)" class="${look}"`, 'g'))].map(
    ([, height]) => Number(height),
  );

describe('the bars of days', () => {
  it.each([
    [1, 1],
    [62, 1],
    [63, 7],
    [400, 7],
    [800, 14],
    [4_000, 65],
  ])('split %i days into at most 62 bars of %i days each', (length, width) => {
    expect(daysOfBar(days(length))).toBe(width);
    expect(barsOf(days(length)).length).toBeLessThanOrEqual(62);
  });

  it('count every payment once, for days in any order and with gaps', () => {
    const some = fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { minLength: 1 });
    fc.assert(
      fc.property(some, fc.integer({ min: 0, max: 9 }), (places, unmatched) => {
        const bars = barsOf(places.map((place) => day(place, place, unmatched, 1)));
        const sum = (of: (bar: (typeof bars)[number]) => number) =>
          bars.reduce((total, bar) => total + of(bar), 0);
        expect(sum((bar) => bar.matched)).toBe(places.reduce((total, place) => total + place, 0));
        expect(sum((bar) => bar.oursOnly)).toBe(places.length * unmatched);
        expect(sum((bar) => bar.theirsOnly)).toBe(places.length);
      }),
    );
    expect(barsOf([])).toEqual([]);
  });

  it('show one payment next to a million', () => {
    const { text } = dayChart([day(0, 1_000_000, 1, 1)]);
    expect([heights(text, 'ours'), heights(text, 'hatched')]).toEqual([[3], [3]]);
    expect(text).toContain('1 Oct 2025: 1,000,000 matched, 1 only ours, 1 only theirs');
    expect(heights(dayChart([day(0)]).text, 'ours')).toEqual([]);
  });
});

describe('the bars of categories', () => {
  it('point right for more and left for less', () => {
    const { text } = categoryChart({
      amount_over: { count: 2, usd: '75' },
      missing_upstream: { count: 1, usd: '-25' },
      late: { count: 3, usd: '0' },
      fee: { count: 0, usd: '0' },
    });
    const bars = [
      ...text
        .replace(/\s+/g, ' ')
        .matchAll(/<rect x="([\d.]+)" y="\d+" width="([\d.]+)"[^>]* class="(\w+)"/g),
    ];
    expect(bars.map(([, x, width, look]) => [Number(x), Number(width), look])).toEqual([
      [176, 61, 'less'],
      [237, 183, 'more'],
      [237, 0, 'more'],
    ]);
    expect(text).toMatch(/>\s*−25\.00\s*<.*>\s*\+75\.00\s*<.*>\s*0\.00\s*</s);
    expect(text).not.toMatch(/>\s*fee\s*</);
  });
});

describe('the bars of ages', () => {
  it('show one finding next to thousands, and no bar for none', () => {
    const age = (count: number) => ({ days: '0_to_1', count, usd: '1.239' });
    const { text } = ageChart([age(5_000), age(1), age(0)]);
    const widths = [...text.matchAll(/width="([\d.]+)" height="18" class="age/g)].map(([, width]) => width);
    expect(widths).toEqual(['146', '2', '0']);
    expect(text).toContain('1.24 $');
  });
});

describe('markup', () => {
  it('escapes inserted values once', () => {
    const evil = `<a href="x" title='y'>&</a>`;
    const inner = markup`<b>${evil}</b>`;
    expect(inner.text).toBe('<b>&#60;a href=&#34;x&#34; title=&#39;y&#39;&#62;&#38;&#60;/a&#62;</b>');
    expect(markup`${[inner, inner]}${false}${null}${undefined}${0}`.text).toBe(`${inner.text}${inner.text}0`);
  });
});
