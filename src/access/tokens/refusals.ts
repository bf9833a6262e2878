import { Problem } from '../../platform/errors/problem';
import { ProblemCode } from '../../platform/errors/problems';
import { isObject } from '../../platform/json/is-object';
import { readStrictJson } from '../../platform/json/strict-json';

/** @param defect of the token, without quoted claims, because a claim may name a person. */
export function invalidToken(defect: string): Problem {
  return new Problem('invalid_token', {
    text: `This access token is not valid: ${defect}. Get a new one for this API from the identity provider.`,
  });
}

/** Returns the error for an API key sent as a token, without quoting it. */
export function keyAsToken(): Problem {
  return new Problem('invalid_token', {
    text: 'The header Authorization contains an API key. Nothing was done. Send keys in X-API-Key.',
    action: 'fix_request',
  });
}

export function expiredToken(): Problem {
  return new Problem('token_expired');
}

/** @param defect of the proof, without quotes from it. */
export function invalidProof(defect: string): Problem {
  return new Problem('invalid_dpop_proof', {
    text:
      `The header DPoP is not valid: ${defect}. Nothing was done. ` +
      'Create a new proof for each request, including retries.',
  });
}

/** Signature algorithms of DPoP proofs. `WWW-Authenticate` lists them for apps (RFC 9449, section 5.1). */
export const PROOF_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'RS256', 'PS256'] as const;

interface Challenge {
  schemes: readonly ('Bearer' | 'DPoP')[];
  /** RFC 6750, section 3.1, and RFC 9449, section 7.1. Undefined if the request had no token. */
  error?: string;
}

const CHALLENGES: Partial<Record<ProblemCode, Challenge>> = {
  missing_key: { schemes: ['Bearer', 'DPoP'] },
  several_credentials: { schemes: ['Bearer', 'DPoP'], error: 'invalid_request' },
  invalid_token: { schemes: ['Bearer', 'DPoP'], error: 'invalid_token' },
  token_expired: { schemes: ['Bearer', 'DPoP'], error: 'invalid_token' },
  use_dpop: { schemes: ['DPoP'], error: 'invalid_token' },
  invalid_dpop_proof: { schemes: ['DPoP'], error: 'invalid_dpop_proof' },
};

const INSUFFICIENT_SCOPE: Challenge = { schemes: ['Bearer', 'DPoP'], error: 'insufficient_scope' };

/**
 * Returns the header `WWW-Authenticate` of an error, with the accepted ways to send an access token.
 * @param hasToken whether the request had a token.
 */
export function challengeOf({ code, message }: Problem, hasToken: boolean): string | undefined {
  const challenge = code === 'scope_missing' && hasToken ? INSUFFICIENT_SCOPE : CHALLENGES[code];
  return challenge?.schemes.map((scheme) => challengeText(scheme, challenge.error, message)).join(', ');
}

function challengeText(scheme: 'Bearer' | 'DPoP', error: string | undefined, description: string): string {
  const parameters = ['realm="payout-proxy"'];
  if (scheme === 'DPoP') parameters.push(`algs="${PROOF_ALGORITHMS.join(' ')}"`);
  // Quotes and backslashes are not allowed (RFC 6750, section 3). Our texts have no other special characters.
  if (error !== undefined)
    parameters.push(`error="${error}"`, `error_description="${description.replace(/["\\]/g, '')}"`);
  return `${scheme} ${parameters.join(', ')}`;
}

/** Node's limit for all headers of a request. Tokens have about 1 KiB, and up to 10 KiB with many groups. */
const MAX_TOKEN_LENGTH = 16_384;

/** The header and the payload of a JWS, before verification. */
export interface CompactJws {
  header: Record<string, unknown>;
  payload: Record<string, unknown>;
  /** The encoded header. */
  encodedHeader: string;
}

/**
 * Parses a JWS in the compact form (RFC 7515, section 7.1). Accepts only the canonical spelling: unpadded
 * canonical base64url, and JSON objects with unique member names. Parsers disagree about all others.
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
