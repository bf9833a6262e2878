import type { Filters } from './filters';

/** Periods that end now, by their days; today is the first of them. */
export const PERIODS = [
  { days: 1, label: 'Today' },
  { days: 7, label: '7 days' },
  { days: 30, label: '30 days' },
];

/** When so many days began, in the zone of who reads. */
export function beginOf(days: number): string {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - (days - 1)).toISOString();
}

/** Which of these periods is meant, if one is. */
export function daysOf({ from, to }: Filters): number | undefined {
  return to === undefined ? PERIODS.find(({ days }) => beginOf(days) === from)?.days : undefined;
}
