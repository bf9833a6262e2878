/** Returns the exact sum of amounts, computed in whole numbers of the smallest decimal. No amount is negative. */
export function sumOf(amounts: string[]): string {
  const decimals = Math.max(0, ...amounts.map((amount) => (amount.split('.')[1] ?? '').length));
  const whole = (amount: string) => {
    const [units = '0', rest = ''] = amount.split('.');
    return BigInt(units + rest.padEnd(decimals, '0'));
  };
  const digits = amounts.reduce((sum, amount) => sum + whole(amount), 0n).toString();
  if (decimals === 0) return digits;
  const padded = digits.padStart(decimals + 1, '0');
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
}
