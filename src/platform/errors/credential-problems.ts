import { kinds, repeatable } from './kinds';

/** Errors of requests with an access token of the company's identity provider. Nothing was done. */
export const TOKEN_PROBLEMS = {
  ...kinds(400, 'fix_request', {
    several_credentials:
      'Send exactly one credential: the header X-API-Key or the header Authorization. Nothing was done.',
  }),
  ...kinds(401, 'ask', {
    invalid_token: 'This access token is not valid. Get a new one for this API from the identity provider.',
  }),
  ...kinds(401, 'fix_request', {
    token_expired:
      'This access token has expired. Nothing was done. Get a new one from the identity provider and ' +
      'send the request again, with the same Idempotency-Key if it had one.',
    use_dpop:
      'This access token is bound to a key. Nothing was done. Prove the key: send Authorization: DPoP ' +
      '<token> and the header DPoP (RFC 9449).',
    invalid_dpop_proof:
      'The header DPoP is not valid. Nothing was done. Create a new proof for each request and each retry.',
  }),
  ...repeatable(503, 'retry_same_key', 5, {
    provider_unavailable:
      'The access token cannot be verified, because the identity provider does not answer. Nothing was ' +
      'sent. Send the request again later, with the same Idempotency-Key if it had one.',
  }),
};

/** Errors of sign-ins of people. */
export const SIGN_IN_PROBLEMS = {
  ...kinds(403, 'ask', {
    step_up_required:
      'This requires a recent sign-in of a person. Nothing was changed. Sign in again at the OpenID ' +
      'provider: open /session/sign-in?step_up=1 in a browser.',
    key_sign_in_off:
      'People sign in to the console at the OpenID provider, not with a key. Open /session/sign-in in a ' +
      'browser.',
  }),
  ...kinds(409, 'fix_request', {
    sign_in_exists:
      'This person already signs in to a client. Nothing was changed. To move the person to another ' +
      'client, revoke the key of the sign-in first.',
  }),
  ...kinds(409, 'ask', {
    no_provider: 'No OpenID provider is configured for sign-in. Nothing was changed. Set OIDC_ISSUER first.',
  }),
};
