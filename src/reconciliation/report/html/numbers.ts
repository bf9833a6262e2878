import { Decimal } from 'decimal.js';

/** The minus of typographers, which is as wide as a plus. */
const MINUS = '\u2212';

/** Returns how many decimals these amounts need, at least two. All amounts of a column use the same number. */
export function decimalsOf(amounts: string[]): number {
  return amounts.reduce((most, amount) => Math.max(most, new Decimal(amount).decimalPlaces()), 2);
}

/** Writes `1,234.50`, exactly unless fewer decimals are asked for. */
export function usd(amount: string, decimals = decimalsOf([amount])): string {
  const value = new Decimal(amount);
  const [whole = '', fraction = ''] = value.abs().toFixed(decimals).split('.');
  const sign = value.isNegative() && !value.isZero() ? MINUS : '';
  return `${sign}${grouped(whole)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Writes an amount with its sign, as part of a difference. */
export function signedUsd(amount: string, decimals?: number): string {
  return `${new Decimal(amount).greaterThan(0) ? '+' : ''}${usd(amount, decimals)}`;
}

/** Writes `12,345`. */
export function count(number: number): string {
  return grouped(String(number));
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Chooses the singular or the plural. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Writes `20 Nov 2026`, in UTC. */
export function date(at: Date): string {
  return `${shortDate(at)} ${at.getUTCFullYear()}`;
}

/** Writes `20 Nov`, in UTC. */
export function shortDate(at: Date): string {
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''}`;
}

/** Writes `20 Nov 2026, 08:00:00`, in UTC. */
export function instant(at: Date): string {
  return `${date(at)}, ${at.toISOString().slice(11, 19)}`;
}

const DAY_MS = 86_400_000;

/**
 * Writes `20 Nov 2026`, or `1 Nov 2026 – 4 Dec 2026`. It adds the times if the period does not begin and end at
 * midnight.
 */
export function period(from: Date, to: Date): string {
  const whole = [from, to].every((at) => at.getTime() % DAY_MS === 0);
  if (!whole) return `${instant(from)} – ${instant(to)} UTC`;
  const last = new Date(to.getTime() - DAY_MS);
  return last.getTime() === from.getTime() ? date(from) : `${date(from)} – ${date(last)}`;
}

const NICE = [1, 2, 2.5, 5, 10];

/** Returns the end of an axis: a round number that is not below the largest value. */
export function niceCeiling(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return (NICE.find((nice) => nice * power >= value) ?? 10) * power;
}

/** Writes `1.2 k` or `3.4 M`, for axes. */
export function brief(value: number): string {
  const [unit, size] = value >= 1e9 ? [' bn', 1e9] : value >= 1e6 ? [' M', 1e6] : value >= 1e4 ? [' k', 1e3] : ['', 1];
  return `${grouped(String(Number((value / size).toFixed(1))))}${unit}`;
}
