import { Decimal } from 'decimal.js';

/** As typographers set it: as wide as a plus. */
const MINUS = '\u2212';

/** How many decimals these amounts need, two at least: in one column all are written with as many. */
export function decimalsOf(amounts: string[]): number {
  return amounts.reduce((most, amount) => Math.max(most, new Decimal(amount).decimalPlaces()), 2);
}

/** `1,234.50`; exact, unless fewer decimals are asked for than it has. */
export function usd(amount: string, decimals = decimalsOf([amount])): string {
  const value = new Decimal(amount);
  const [whole = '', fraction = ''] = value.abs().toFixed(decimals).split('.');
  const sign = value.isNegative() && !value.isZero() ? MINUS : '';
  return `${sign}${grouped(whole)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The same with a plus: what adds to a difference. */
export function signedUsd(amount: string, decimals?: number): string {
  return `${new Decimal(amount).greaterThan(0) ? '+' : ''}${usd(amount, decimals)}`;
}

/** `12,345` */
export function count(number: number): string {
  return grouped(String(number));
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** One, or many of them. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `20 Nov 2026`, UTC. */
export function date(at: Date): string {
  return `${shortDate(at)} ${at.getUTCFullYear()}`;
}

/** `20 Nov`, UTC. */
export function shortDate(at: Date): string {
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''}`;
}

/** `20 Nov 2026, 08:00:00`, UTC. */
export function instant(at: Date): string {
  return `${date(at)}, ${at.toISOString().slice(11, 19)}`;
}

const DAY_MS = 86_400_000;

/** `20 Nov 2026`, or `1 Nov 2026 – 4 Dec 2026`; with the time where a period does not begin or end with a day. */
export function period(from: Date, to: Date): string {
  const whole = [from, to].every((at) => at.getTime() % DAY_MS === 0);
  if (!whole) return `${instant(from)} – ${instant(to)} UTC`;
  const last = new Date(to.getTime() - DAY_MS);
  return last.getTime() === from.getTime() ? date(from) : `${date(from)} – ${date(last)}`;
}

const NICE = [1, 2, 2.5, 5, 10];

/** The end of an axis: a round number that is not below. */
export function niceCeiling(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return (NICE.find((nice) => nice * power >= value) ?? 10) * power;
}

/** `1.2 k`, `3.4 M`: for axes. */
export function brief(value: number): string {
  const [unit, size] = value >= 1e9 ? [' bn', 1e9] : value >= 1e6 ? [' M', 1e6] : value >= 1e4 ? [' k', 1e3] : ['', 1];
  return `${grouped(String(Number((value / size).toFixed(1))))}${unit}`;
}
