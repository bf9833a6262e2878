/** Errors about people who sign in. */
export const SIGN_IN_PROBLEMS = {
  step_up_required: {
    status: 403,
    text: 'This needs a person who has just proved who they are. Nothing was changed. Sign in again at the OpenID provider: open /session/sign-in?step_up=1 in a browser.',
  },
  key_sign_in_off: {
    status: 403,
    text: 'People sign in to the console at the OpenID provider, not with a key. Open /session/sign-in in a browser.',
  },
  sign_in_exists: {
    status: 409,
    text: 'This person already signs in as a client. Nothing was changed. To move them, revoke the key of their sign-in first.',
  },
  no_provider: {
    status: 409,
    text: 'No OpenID provider is configured, so nobody can sign in there. Nothing was changed. Set OIDC_ISSUER first.',
  },
} as const;
