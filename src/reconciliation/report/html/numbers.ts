import { Decimal } from 'decimal.js';

/** Typographic minus, as wide as a plus. */
const MINUS = '\u2212';

/**
 * Returns the decimals that all of these amounts need, at least two. A column uses one number of decimals.
 */
export function decimalsOf(amounts: string[]): number {
  return amounts.reduce((most, amount) => Math.max(most, new Decimal(amount).decimalPlaces()), 2);
}

/** Formats `1,234.50`, exactly unless `decimals` is less. */
export function usd(amount: string, decimals = decimalsOf([amount])): string {
  const value = new Decimal(amount);
  const [whole = '', fraction = ''] = value.abs().toFixed(decimals).split('.');
  const sign = value.isNegative() && !value.isZero() ? MINUS : '';
  return `${sign}${grouped(whole)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Formats an amount with its sign, as part of a difference. */
export function signedUsd(amount: string, decimals?: number): string {
  return `${new Decimal(amount).greaterThan(0) ? '+' : ''}${usd(amount, decimals)}`;
}

/** Formats `12,345`. */
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

/** Formats `20 Nov 2026`, in UTC. */
export function date(at: Date): string {
  return `${shortDate(at)} ${at.getUTCFullYear()}`;
}

/** Formats `20 Nov`, in UTC. */
export function shortDate(at: Date): string {
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''}`;
}

/** Formats `20 Nov 2026, 08:00:00`, in UTC. */
export function instant(at: Date): string {
  return `${date(at)}, ${at.toISOString().slice(11, 19)}`;
}

const DAY_MS = 86_400_000;

/** Formats `20 Nov 2026`, or `1 Nov 2026 – 4 Dec 2026`. Adds the times unless both ends are at midnight. */
export function period(from: Date, to: Date): string {
  const whole = [from, to].every((at) => at.getTime() % DAY_MS === 0);
  if (!whole) return `${instant(from)} – ${instant(to)} UTC`;
  const last = new Date(to.getTime() - DAY_MS);
  return last.getTime() === from.getTime() ? date(from) : `${date(from)} – ${date(last)}`;
}

const NICE = [1, 2, 2.5, 5, 10];

/** Returns the end of an axis: a round number, at least the largest value. */
export function niceCeiling(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return (NICE.find((nice) => nice * power >= value) ?? 10) * power;
}

/** Formats `1.2 k` or `3.4 M`, for axes. */
export function brief(value: number): string {
  const [unit, size] =
    value >= 1e9 ? [' bn', 1e9] : value >= 1e6 ? [' M', 1e6] : value >= 1e4 ? [' k', 1e3] : ['', 1];
  return `${grouped(String(Number((value / size).toFixed(1))))}${unit}`;
}
