import { kinds } from './kinds';

/** Errors about people who sign in. */
export const SIGN_IN_PROBLEMS = {
  ...kinds(403, 'ask', {
    step_up_required:
      'This needs a person who has just proved who they are. Nothing was changed. Sign in again at the ' +
      'OpenID provider: open /session/sign-in?step_up=1 in a browser.',
    key_sign_in_off:
      'People sign in to the console at the OpenID provider, not with a key. Open /session/sign-in in a ' +
      'browser.',
  }),
  ...kinds(409, 'fix_request', {
    sign_in_exists:
      'This person already signs in as a client. Nothing was changed. To move them, revoke the key of ' +
      'their sign-in first.',
  }),
  ...kinds(409, 'ask', {
    no_provider:
      'No OpenID provider is configured, so nobody can sign in there. Nothing was changed. Set ' +
      'OIDC_ISSUER first.',
  }),
};
