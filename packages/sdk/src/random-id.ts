/** Length of a UUID in bytes, and the positions of its version and its variant (RFC 9562, section 5.4). */
const UUID_BYTES = 16;
const VERSION_AT = 6;
const VARIANT_AT = 8;

const NO_RANDOMNESS =
  'This runtime has no secure source of randomness for idempotency keys. Pass "randomId", a function that ' +
  'returns unique IDs. In React Native, import "react-native-get-random-values" before anything else.';

/**
 * Returns a random UUID, never from `Math.random`: two equal keys would make one payment of two.
 * @throws Error if the runtime has no secure source of randomness.
 */
export function randomId(): string {
  const source = (globalThis as { crypto?: Partial<typeof crypto> }).crypto;
  // Only secure contexts have randomUUID: https://w3c.github.io/webcrypto/#Crypto-method-randomUUID
  if (typeof source?.randomUUID === 'function') return source.randomUUID();
  if (typeof source?.getRandomValues !== 'function') throw new Error(NO_RANDOMNESS);
  const bytes = source.getRandomValues(new Uint8Array(UUID_BYTES));
  bytes[VERSION_AT] = ((bytes[VERSION_AT] ?? 0) & 0x0f) | 0x40;
  bytes[VARIANT_AT] = ((bytes[VARIANT_AT] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
