import { Environment } from './environment/environment';
import { Secret } from './secrets/secret';

/** Sign-in settings. */
export type SignInConfig = Readonly<ReturnType<typeof toSignInConfig>>;

export interface StepUpConfig {
  /** Maximum age of the person's authentication, in seconds. Undefined allows any. */
  readonly maxAgeSeconds: number | undefined;
  /** Accepted values of `acr`. Empty accepts all. */
  readonly acrValues: readonly string[];
  /** Approvals up to this amount need no step-up. Decimal text. */
  readonly overUsd: string;
}

export function toSignInConfig(env: Environment) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: secret } = env;
  const hasProvider = issuer !== undefined && clientId !== undefined;
  return {
    /** The OpenID provider of the console, with our registration. Undefined for sign-in with keys. */
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
    /** Step-up requirements of approvals and administration. Undefined if step-up is off. */
    stepUp: isSteppedUp(env)
      ? Object.freeze({
          maxAgeSeconds: env.STEP_UP_MAX_AGE_SECONDS,
          acrValues: Object.freeze(env.STEP_UP_ACR),
          overUsd: env.STEP_UP_OVER_USD,
        })
      : undefined,
    /** JSON (page-secrets.ts). Undefined if all our clients at the providers of pages are public. */
    pageClientSecrets:
      env.PAGE_CLIENT_SECRETS === undefined ? undefined : new Secret(env.PAGE_CLIENT_SECRETS),
    /** Idle timeout of a page session, in minutes. */
    pageIdleMinutes: env.PAGE_IDLE_MINUTES,
  };
}

/** Returns the faults of combinations of variables. */
export function signInFaults(env: Environment): string[] {
  const faults: string[] = [];
  if (env.OIDC_ISSUER && !env.OIDC_CLIENT_ID) faults.push('OIDC_CLIENT_ID is required with OIDC_ISSUER');
  for (const name of ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const) {
    if (env[name] && !env.OIDC_ISSUER) faults.push(`OIDC_ISSUER is required with ${name}`);
  }
  if (isSteppedUp(env) && !env.OIDC_ISSUER)
    faults.push(
      'OIDC_ISSUER is required with STEP_UP_MAX_AGE_SECONDS and STEP_UP_ACR, because keys prove no sign-in',
    );
  if (env.CONSOLE_KEY_SIGN_IN === 'false' && !env.OIDC_ISSUER)
    faults.push('OIDC_ISSUER is required with CONSOLE_KEY_SIGN_IN=false, as the only other sign-in');
  return faults;
}

function isSteppedUp(env: Environment): boolean {
  return env.STEP_UP_MAX_AGE_SECONDS !== undefined || env.STEP_UP_ACR.length > 0;
}
