const UNITS = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Formats the time from one instant to another: `+12 ms`, `+3.4 s`. It is negative if two clocks differ. */
export function formatGap(from: string, to: string): string {
  const ms = new Date(to).getTime() - new Date(from).getTime();
  const [unit, length] = UNITS.find(([, one]) => Math.abs(ms) >= one) ?? (['ms', 1] as const);
  const amount = length === 1 ? String(Math.abs(ms)) : (Math.abs(ms) / length).toFixed(1);
  return `${ms < 0 ? '−' : '+'}${amount} ${unit}`;
}
