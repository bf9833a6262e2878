const DAY_MS = 86_400_000;
const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Returns the days (UTC) of the overview, oldest first, including days without payouts. */
export function datesOf(until: string, span: number): string[] {
  const last = new Date(until).getTime();
  return Array.from({ length: span }, (_, back) => dateOf(last - back * DAY_MS)).reverse();
}

/** Filters of a list that match exactly the payouts of some days. */
export interface Window {
  /** Start of the first day. */
  from: string;
  /** End of the last day. */
  to: string;
}

export function windowOf(dates: string[]): Window {
  const [first = '', last = first] = [dates[0], dates.at(-1)];
  return {
    from: new Date(first).toISOString(),
    to: new Date(new Date(last).getTime() + DAY_MS).toISOString(),
  };
}

/** Returns the URL of a list that shows the counted payouts. */
export function listOf(what: 'calls' | 'payouts', window: Window, filters: Record<string, string>): string {
  return `/${what}?${new URLSearchParams({ ...window, ...filters })}`;
}
