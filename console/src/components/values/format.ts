/** Formats an amount with all its decimals, at least two. As a number, it could lose precision. */
export function formatUsd(amount: string): string {
  const [, sign = '', whole = '', decimals = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === '') return amount;
  return `${sign === '' ? '' : '−'}$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${decimals.padEnd(2, '0')}`;
}

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Formats an instant in the reader's time zone. */
export const formatLocal = (instant: string) => LOCAL.format(new Date(instant));

/** Formats an instant as `2026-11-20 14:03:05.123 UTC`. */
export const formatUtc = (instant: string) =>
  `${new Date(instant).toISOString().replace('T', ' ').slice(0, -1)} UTC`;

const COUNT = new Intl.NumberFormat('en');
export const formatCount = (count: number) => COUNT.format(count);

const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** Formats an instant as `3 hours ago` or `in 2 days`. */
export function formatAgo(instant: string, now = Date.now()): string {
  const ms = new Date(instant).getTime() - now;
  const [unit, length] = UNITS.find(([, one]) => Math.abs(ms) >= one) ?? (['second', 1_000] as const);
  return AGO.format(Math.trunc(ms / length), unit);
}

/** Turns `outcome_unknown` into `outcome unknown`. */
export const inWords = (word: string) =>
  word
    .replaceAll('_', ' ')
    .replace(/[a-z][A-Z]/g, ([before = '', after = '']) => `${before} ${after.toLowerCase()}`);

/** Returns the used share of a cap in percent, for a bar. Amounts are never computed from it. */
export function percentOf(spent: string, cap: string): number {
  return Number(cap) === 0 ? 100 : Math.min(100, Math.round((100 * Number(spent)) / Number(cap)));
}

/** Default account of clients. */
export const MAIN_ACCOUNT = 'main';

/** Names a client, and its upstream account if that is not the default. */
export function clientWords({ name, id }: { name: string | null; id: string }, account: string): string {
  return account === MAIN_ACCOUNT ? (name ?? id) : `${name ?? id} (${account})`;
}
