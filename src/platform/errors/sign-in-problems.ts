import { kinds } from './kinds';

/** Errors about people who sign in. */
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
