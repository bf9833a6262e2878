import { inSection } from './variable';

/** The purpose of the variables about people who sign in at an OpenID provider. */
export const SIGN_IN_VARIABLES = inSection('sign_in', {
  OIDC_ISSUER: {
    about:
      'The OpenID provider at which people sign in to the console, as it names itself. See [Sign in with your provider](../operate/sign-in.md).',
    unset: 'none: people sign in with keys',
  },
  OIDC_CLIENT_ID: { about: 'The client of the proxy at the provider.', unset: 'none' },
  OIDC_CLIENT_SECRET: {
    about: 'The secret of that client. Without it, the client is public and only PKCE protects its codes.',
    unset: 'none',
  },
  OIDC_SCOPES: 'Scopes that the sign-in asks the provider for.',
  CONSOLE_KEY_SIGN_IN: {
    about: 'Whether people may sign in to the console with a key.',
    unset: '`true`; with `OIDC_ISSUER`, `false`',
  },
  STEP_UP_MAX_AGE_SECONDS: {
    about:
      'How long ago people may have proved who they are when they approve or administer. See [Step-up](../operate/sign-in.md#step-up).',
    unset: 'any time',
  },
  STEP_UP_ACR: {
    about: 'How strong the proof must be: values of the claim `acr`, of which one is required.',
    unset: 'any',
  },
  STEP_UP_OVER_USD: 'Approvals and settlements of calls up to this amount need no step-up. `0`: all need it.',
  PAGE_CLIENT_SECRETS: {
    about:
      'The secrets of our clients at the providers of [page sessions](../operate/page-sessions.md): a JSON object by issuer and client ID, such as `{"https://id.example.com":{"wallet-pages":"…"}}`. A client without a secret is public.',
    unset: 'none',
  },
  PAGE_IDLE_MINUTES: 'Minutes without a request after which a page session ends.',
});
