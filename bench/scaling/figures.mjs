/** Small arithmetic on figures. */

export function rounded(value, digits = 0) {
  return Number(value.toFixed(digits));
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Returns the median of each figure of turns. All turns have the same figures. */
export function medianOf(turns) {
  return Object.fromEntries(
    Object.keys(turns[0]).map((name) => [name, median(turns.map((turn) => turn[name]))]),
  );
}
