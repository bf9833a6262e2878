/** Bytes and SHA-256 by Web Crypto, which browsers provide only on https and localhost. */

export type Bytes = Uint8Array<ArrayBuffer>;

/** The number of bytes of a SHA-256. */
export const HASH_BYTES = 32;

const encoder = new TextEncoder();

export const utf8 = (text: string): Bytes => encoder.encode(text);

export function joined(...parts: Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export async function sha256(...parts: Uint8Array[]): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', joined(...parts)));
}

export const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
export const toBase64 = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));

/**
 * Decodes base64. Undefined unless the text is exactly the base64 (RFC 4648, section 4) of the bytes: one form only.
 */
export function fromBase64(text: string): Bytes | undefined {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return toBase64(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes hex. Undefined unless the text is lower-case hexadecimal. */
export function fromHex(text: string): Bytes | undefined {
  if (!/^([0-9a-f]{2})*$/.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export const isSame = (one: Uint8Array, other: Uint8Array) =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);
