import { Problem } from '../../platform/errors/problem';
import { ProblemCode } from '../../platform/errors/problems';
import { PROOF_ALGORITHMS } from './algorithms';

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
