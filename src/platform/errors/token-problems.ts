/** Errors of requests with an access token of the company's identity provider. Nothing was done. */
export const TOKEN_PROBLEMS = {
  several_credentials: {
    status: 400,
    text: 'Send one credential: the header X-API-Key or the header Authorization, once and not both. Nothing was done.',
  },
  invalid_token: {
    status: 401,
    text: 'This access token is not valid. Get a new one for this API from the identity provider.',
  },
  token_expired: {
    status: 401,
    text: 'This access token has expired. Nothing was done. Get a new one from the identity provider and send the request again, with the same Idempotency-Key if it had one.',
  },
  use_dpop: {
    status: 401,
    text: 'This access token needs a proof of its key. Use Authorization: DPoP <token> and the header DPoP (RFC 9449). Nothing was done.',
  },
  invalid_dpop_proof: {
    status: 401,
    text: 'The header DPoP is not valid. Nothing was done. Make a new proof for each request, also when you repeat one.',
  },
  provider_unavailable: {
    status: 503,
    text: 'The access token cannot be verified, because the identity provider does not answer. Nothing was sent. Send the request again later, with the same Idempotency-Key if it had one.',
    retryAfter: 5,
  },
} as const;
