/** Bytes for Web Crypto, which browsers provide only on https and localhost. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Length of a SHA-256 in bytes. */
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

export const toHex = (bytes: Uint8Array) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Encodes base64 (RFC 4648, section 4). Some runtimes, such as older React Native, have no `btoa`. */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
    const sextets = [
      first >> 2,
      ((first & 3) << 4) | (second >> 4),
      ((second & 15) << 2) | (third >> 6),
      third & 63,
    ];
    text += sextets
      .map((sextet) => BASE64[sextet])
      .join('')
      .slice(0, bytes.length - at + 1);
  }
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

/** Decodes base64. Undefined unless the text is the one canonical encoding of the bytes. */
export function fromBase64(text: string): Bytes | undefined {
  const sextets = Array.from(text.replace(/={1,2}$/, ''), (character) => BASE64.indexOf(character));
  const bytes = new Uint8Array(Math.floor((sextets.length * 3) / 4));
  for (let at = 0; at < bytes.length; at += 1) {
    const first = Math.floor((at * 4) / 3);
    const pair = ((sextets[first] ?? 0) << 6) | (sextets[first + 1] ?? 0);
    bytes[at] = pair >> (4 - 2 * (at % 3));
  }
  return toBase64(bytes) === text ? bytes : undefined;
}

/**
 * Decodes UTF-8 without `TextDecoder`.
 * @throws URIError for other bytes.
 */
export const textOf = (bytes: Uint8Array) => decodeURIComponent(toHex(bytes).replace(/../g, '%$&'));

/** Decodes hex. Undefined unless the text is lower-case hexadecimal. */
export function fromHex(text: string): Bytes | undefined {
  if (!/^([0-9a-f]{2})*$/.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export const isSame = (a: Uint8Array, b: Uint8Array) =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);
