import { Decimal } from 'decimal.js';

/** Days from … to, both included; the last one has no end. */
export const AGES = [
  { name: '0–1', from: 0, to: 1 },
  { name: '2–7', from: 2, to: 7 },
  { name: '8–30', from: 8, to: 30 },
  { name: '31+', from: 31, to: null },
] as const;

export type AgeName = (typeof AGES)[number]['name'];

/** @param days whole days since it was found, rounded down. */
export function ageOf(days: number): AgeName {
  return (AGES.find(({ to }) => to === null || days <= to) ?? AGES[AGES.length - 1])?.name ?? '31+';
}

/** Adds up what waits, for each age there is. @param waiting by whole days; `usd` is decimal text. */
export function sumAges(waiting: { days: number; count: number; usd: string }[]) {
  return AGES.map(({ name }) => {
    const own = waiting.filter(({ days }) => ageOf(days) === name);
    const usd = own.reduce((sum, age) => sum.add(age.usd), new Decimal(0));
    return { age: name, count: own.reduce((sum, { count }) => sum + count, 0), usd: usd.toFixed() };
  });
}
