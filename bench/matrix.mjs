/**
 * The measurements. The ratios of the first row are stored in `ratios`. Connections are those of the load. Each
 * operation begins with many, which warm it up fastest.
 */

const row = (operation, connections, delayMs, idempotencyKeys = false) => ({
  operation,
  connections,
  delayMs,
  idempotencyKeys,
});

export const FULL = [
  row('airtime', 32, 0),
  row('airtime', 32, 0, true),
  row('airtime', 1, 0),
  row('airtime', 128, 0),
  row('airtime', 1, 20),
  row('airtime', 32, 20),
  row('airtime', 64, 20),
  row('airtime', 64, 20, true),
  row('airtime', 128, 20),
  row('momo', 32, 0),
  row('momo', 32, 0, true),
  row('momo', 1, 0),
  row('momo', 128, 0),
  row('momo', 1, 20),
  row('momo', 32, 20),
  row('momo', 128, 20),
];

/** The rows with a promise in docs/internals/performance.md. */
export const SHORT = [row('airtime', 32, 0), row('airtime', 64, 20), row('airtime', 1, 0)];

export function nameOf({ operation, connections, delayMs, idempotencyKeys }) {
  const what = operation === 'airtime' ? 'airtime, 2 items' : 'mobile money, 500 items';
  const keys = idempotencyKeys ? ', with idempotency keys' : '';
  return `${what}, ${connections} connection${connections === 1 ? '' : 's'}, upstream at ${delayMs} ms${keys}`;
}
