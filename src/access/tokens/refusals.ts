import { Problem } from '../../platform/errors/problem';
import { ProblemCode } from '../../platform/errors/problems';
import { isObject } from '../../platform/json/is-object';
import { readStrictJson } from '../../platform/json/strict-json';

/** @param why what is wrong with the token. It never quotes a claim, because a claim may name a person. */
export function invalidToken(why: string): Problem {
  return new Problem('invalid_token', {
    text: `This access token is not valid: ${why}. Get a new one for this API from the identity provider.`,
  });
}

/** Refuses an API key that was sent as a token, without quoting it. */
export function keyAsToken(): Problem {
  return new Problem('invalid_token', {
    text: 'The header Authorization takes access tokens, and this is an API key. Send it in the header X-API-Key instead. Nothing was done.',
    action: 'fix_request',
  });
}

export function expiredToken(): Problem {
  return new Problem('token_expired');
}

/** @param why what is wrong with the proof. It never quotes the proof. */
export function invalidProof(why: string): Problem {
  return new Problem('invalid_dpop_proof', {
    text: `The header DPoP is not valid: ${why}. Nothing was done. Make a new proof for each request, also when you repeat one.`,
  });
}

/** The signatures that DPoP proofs may have. `WWW-Authenticate` tells them to apps. */
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
 * Returns the header `WWW-Authenticate` of an error, which tells programs how to send an access token.
 * @param hasToken whether the request had a token.
 */
export function challengeOf({ code, message }: Problem, hasToken: boolean): string | undefined {
  const challenge = code === 'scope_missing' && hasToken ? INSUFFICIENT_SCOPE : CHALLENGES[code];
  return challenge?.schemes.map((scheme) => written(scheme, challenge.error, message)).join(', ');
}

function written(scheme: 'Bearer' | 'DPoP', error: string | undefined, description: string): string {
  const parameters = ['realm="payout-proxy"'];
  if (scheme === 'DPoP') parameters.push(`algs="${PROOF_ALGORITHMS.join(' ')}"`);
  // Quotes and backslashes are not allowed in it, and texts of ours have no other special characters.
  if (error !== undefined)
    parameters.push(`error="${error}"`, `error_description="${description.replace(/["\\]/g, '')}"`);
  return `${scheme} ${parameters.join(', ')}`;
}

/** All headers of a request together are no longer. Tokens of providers have about 1 KiB, and with many groups 10. */
const MAX_TOKEN_LENGTH = 16_384;

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
