/**
 * The measurements. The ratios of the first row are stored in `ratios`. Connections are those of the load.
 * Each operation begins with many, which warm it up fastest.
 */

const row = (operation, connections, delayMs, more) => ({
  operation,
  connections,
  delayMs,
  idempotencyKeys: false,
  ...more,
});
const KEYS = { idempotencyKeys: true };

/** Requests arrive at half the measured capacity of the contestant, with these connections. */
const OPEN = row('airtime', 128, 20, { openLoop: true });

export const FULL = [
  row('airtime', 32, 0),
  row('airtime', 32, 0, KEYS),
  row('airtime', 1, 0),
  row('airtime', 128, 0),
  row('airtime', 1, 20),
  row('airtime', 32, 20),
  row('airtime', 64, 20),
  row('airtime', 64, 20, KEYS),
  row('airtime', 128, 20),
  OPEN,
  row('momo', 32, 0),
  row('momo', 32, 0, KEYS),
  row('momo', 1, 0),
  row('momo', 128, 0),
  row('momo', 1, 20),
  row('momo', 32, 20),
  row('momo', 128, 20),
];

/** The rows with a target in docs/internals/performance.md. */
export const TARGETS = [
  row('airtime', 32, 0),
  OPEN,
  row('airtime', 1, 0),
  row('momo', 32, 0),
  row('momo', 1, 0),
];

export const SHORT = TARGETS.slice(0, 3);

export function nameOf({ operation, connections, delayMs, idempotencyKeys, openLoop }) {
  const what = operation === 'airtime' ? 'airtime, 2 items' : 'mobile money, 500 items';
  const keys = idempotencyKeys ? ', with idempotency keys' : '';
  const load = openLoop
    ? 'open loop at half capacity'
    : `${connections} connection${connections === 1 ? '' : 's'}`;
  return `${what}, ${load}, upstream at ${delayMs} ms${keys}`;
}
