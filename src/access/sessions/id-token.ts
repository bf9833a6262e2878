import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts an ID token for its session. The token may name a person. The secret is only in the cookie, so the
 * token is unreadable in the database.
 */
export function sealIdToken(idToken: string, sessionToken: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(sessionToken), iv);
  const sealed = Buffer.concat([cipher.update(idToken, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

export function openIdToken(sealed: Uint8Array, sessionToken: string): string {
  const decipher = createDecipheriv(CIPHER, keyOf(sessionToken), sealed.subarray(0, IV_BYTES));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString(
    'utf8',
  );
}

function keyOf(sessionToken: string): Buffer {
  return Buffer.from(hkdfSync('sha256', sessionToken, '', 'ID token of a session', KEY_BYTES));
}
