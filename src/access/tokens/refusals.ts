import { Problem } from '../../platform/errors/problem';
import { ProblemCode } from '../../platform/errors/problems';

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
