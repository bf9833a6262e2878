import { Problem } from '../../platform/errors/problem';

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
