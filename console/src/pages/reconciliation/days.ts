const DAY_MS = 86_400_000;

/** First and last day, such as `2026-11-20`, both included. Null if not selected yet. */
export type Days = [string | null, string | null];

const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);

export const today = () => dayOf(Date.now());

/** Returns common periods, in UTC. */
export function presets(now = Date.now()): { label: string; value: [string, string] }[] {
  const [today, yesterday] = [dayOf(now), dayOf(now - DAY_MS)];
  return [
    { label: 'Yesterday', value: [yesterday, yesterday] },
    { label: 'Last 7 days', value: [dayOf(now - 7 * DAY_MS), yesterday] },
    { label: 'This month', value: [`${today.slice(0, 7)}-01`, today] },
    { label: 'Today', value: [today, today] },
  ];
}

/** Returns the period from the start of the first day to the end of the last. */
export function periodOf([first, last]: Days): { from: string; to: string } | undefined {
  if (first === null || last === null) return undefined;
  const end = new Date(Date.parse(`${last}T00:00:00Z`) + DAY_MS);
  return { from: `${first}T00:00:00.000Z`, to: end.toISOString() };
}

/** Ends a period now if it is not over yet. */
export const untilNow = ({ from, to }: { from: string; to: string }) => ({
  from,
  to: new Date(Math.min(Date.parse(to), Date.now())).toISOString(),
});

/** Returns the days of a filter in the URL that {@link periodOf} made. */
export function daysIn(from: string | undefined, to: string | undefined): Days {
  const last = to === undefined ? NaN : Date.parse(to) - 1;
  return [from?.slice(0, 10) ?? null, Number.isNaN(last) ? null : dayOf(last)];
}

const MIDNIGHT = 'T00:00:00.000Z';

/** Describes a period of whole days in UTC. Undefined for any other period. */
export function daysOf(from: string, to: string): string | undefined {
  const [first, end] = [new Date(from).toISOString(), new Date(to).toISOString()];
  if (!first.endsWith(MIDNIGHT) || !end.endsWith(MIDNIGHT)) return undefined;
  const [firstDay, lastDay] = [first, new Date(Date.parse(end) - DAY_MS).toISOString()].map((day) =>
    day.slice(0, 10),
  );
  return firstDay === lastDay ? `${firstDay} UTC` : `${firstDay} – ${lastDay} UTC`;
}
