import { Environment } from './environment/environment';
import { Secret } from './secrets/secret';

/** How people sign in. */
export type SignInConfig = Readonly<ReturnType<typeof toSignInConfig>>;

export interface StepUpConfig {
  /** How long ago the person proved who they are, at most. Undefined: any time. */
  readonly maxAgeSeconds: number | undefined;
  /** One of these values of `acr` is required. Empty: any. */
  readonly acrValues: readonly string[];
  /** Approvals up to this amount need no step-up. Decimal text. */
  readonly overUsd: string;
}

export function toSignInConfig(env: Environment) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: secret } = env;
  const hasProvider = issuer !== undefined && clientId !== undefined;
  return {
    /** An OpenID provider, and our client there. Undefined: people sign in with keys. */
    openIdProvider: hasProvider
      ? Object.freeze({
          issuer,
          clientId,
          /** Undefined for a public client. */
          clientSecret: secret === undefined ? undefined : new Secret(secret),
          scopes: Object.freeze([...new Set(['openid', ...env.OIDC_SCOPES])]),
        })
      : undefined,
    /** Whether people may sign in with keys. */
    keySignIn: env.CONSOLE_KEY_SIGN_IN === undefined ? !hasProvider : env.CONSOLE_KEY_SIGN_IN === 'true',
    /** What is required of a sign-in to approve and to administer. Undefined: nothing. */
    stepUp: isSteppedUp(env)
      ? Object.freeze({
          maxAgeSeconds: env.STEP_UP_MAX_AGE_SECONDS,
          acrValues: Object.freeze(env.STEP_UP_ACR),
          overUsd: env.STEP_UP_OVER_USD,
        })
      : undefined,
    /** JSON (page-secrets.ts). Undefined: all our clients at the providers of pages are public. */
    pageClientSecrets: env.PAGE_CLIENT_SECRETS === undefined ? undefined : new Secret(env.PAGE_CLIENT_SECRETS),
    /** After how long without a request a page session ends. */
    pageIdleMinutes: env.PAGE_IDLE_MINUTES,
  };
}

/** Returns what is wrong with the variables together. */
export function signInFaults(env: Environment): string[] {
  const faults: string[] = [];
  if (env.OIDC_ISSUER && !env.OIDC_CLIENT_ID) faults.push('OIDC_CLIENT_ID is required with OIDC_ISSUER');
  for (const name of ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const) {
    if (env[name] && !env.OIDC_ISSUER) faults.push(`OIDC_ISSUER is required with ${name}`);
  }
  if (isSteppedUp(env) && !env.OIDC_ISSUER)
    faults.push('OIDC_ISSUER is required with STEP_UP_MAX_AGE_SECONDS and STEP_UP_ACR, because keys prove nothing');
  if (env.CONSOLE_KEY_SIGN_IN === 'false' && !env.OIDC_ISSUER)
    faults.push('OIDC_ISSUER is required with CONSOLE_KEY_SIGN_IN=false, or nobody could sign in');
  return faults;
}

function isSteppedUp(env: Environment): boolean {
  return env.STEP_UP_MAX_AGE_SECONDS !== undefined || env.STEP_UP_ACR.length > 0;
}
