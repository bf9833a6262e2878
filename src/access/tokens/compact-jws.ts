import { readStrictJson } from '../../platform/json/strict-json';
import { isObject } from '../../platform/json/is-object';

/** All headers of a request together are no longer. Tokens of providers have about 1 KiB, and with many groups 10. */
export const MAX_TOKEN_LENGTH = 16_384;

/** The header and the payload of a JWS, before its signature is verified. */
export interface CompactJws {
  header: Record<string, unknown>;
  payload: Record<string, unknown>;
  /** The header as it was sent. */
  encodedHeader: string;
}

/**
 * Reads a JWS in the compact form (RFC 7515). It accepts one spelling of each JWS only: parts in the canonical base64url
 * without padding, and JSON objects whose members have different names. Readers disagree about all others.
 * @returns undefined for anything else.
 */
export function readCompactJws(text: string): CompactJws | undefined {
  if (text.length > MAX_TOKEN_LENGTH) return undefined;
  const parts = text.split('.');
  const [encodedHeader = '', encodedPayload = ''] = parts;
  if (parts.length !== 3 || !parts.every(isCanonical)) return undefined;
  const header = objectIn(encodedHeader);
  const payload = objectIn(encodedPayload);
  return header && payload && { header, payload, encodedHeader };
}

function isCanonical(part: string): boolean {
  return part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part;
}

function objectIn(part: string): Record<string, unknown> | undefined {
  try {
    const value = readStrictJson(UTF8.decode(Buffer.from(part, 'base64url')));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
