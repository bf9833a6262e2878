import type { Filters } from './filters';

/** Periods that end now, by their number of days including today. */
export const PERIODS = [
  { days: 1, label: 'Today' },
  { days: 7, label: '7 days' },
  { days: 30, label: '30 days' },
];

/** Returns the start of a period in the reader's time zone. */
export function beginOf(days: number): string {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - (days - 1)).toISOString();
}

/** Returns the days of the selected period, if it is one of these. */
export function daysOf({ from, to }: Filters): number | undefined {
  return to === undefined ? PERIODS.find(({ days }) => beginOf(days) === from)?.days : undefined;
}
