import { formatUsd } from '../../components/values/format';

/** Formats an impact: `+$1.50`, `−$1.50`. Zero has no sign. */
export function signedUsd(amount: string): string {
  return isZero(amount) || amount.startsWith('-') ? formatUsd(amount) : `+${formatUsd(amount)}`;
}

export const isZero = (amount: string) => /^-?0(\.0+)?$/.test(amount);

/** Pads an amount, so that all amounts of a column have the same number of decimals. */
export function withDecimals(amount: string, decimals: number): string {
  const [whole = '', fraction = ''] = amount.split('.');
  return decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, '0')}`;
}

export const decimalsOf = (amounts: string[]) =>
  Math.max(0, ...amounts.map((amount) => amount.split('.')[1]?.length ?? 0));
