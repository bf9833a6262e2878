import type { JWTVerifyGetKey } from 'jose';
import { isTokenText } from '../../access/tokens/access-token';
import { SignInFailure } from './sign-in-failure';

/** The session that the provider has ended, or the person whose sessions it has ended. */
export interface LogoutToken {
  subject: string | undefined;
  sid: string | undefined;
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** The usual clock difference of servers, and the time that a token takes to arrive. */
const MAX_AGE_SECONDS = 120;

const COOL_DOWN_MS = 10_000;

/** More clients than a logout token is for. */
const MAX_CLIENTS = 10;

/** Returns which provider says that it made a logout token, and for whom. Nothing of it is verified. @throws if it is no token. */
export async function addresseeOf(token: string): Promise<{ issuer: string; clientIds: string[] }> {
  const { decodeJwt } = await import('jose');
  const { iss, aud } = decodeJwt(token);
  const clientIds = [aud].flat().filter(isTokenText);
  if (!isTokenText(iss) || clientIds.length > MAX_CLIENTS) throw new SignInFailure('invalid');
  return { issuer: iss, clientIds };
}

/** Finds the key that a logout token names. */
export type LogoutKeys = JWTVerifyGetKey;

/**
 * Returns the keys of a provider. They are read when they are first needed, and again for an unknown key, at most every ten
 * seconds. @throws SignInFailure if they cannot be read safely.
 */
export async function keysForLogout(issuer: string, jwksUri = ''): Promise<LogoutKeys> {
  const { createRemoteJWKSet } = await import('jose');
  // As the library reads those of ID tokens.
  if (!jwksUri.startsWith('https:') && !issuer.startsWith('http:')) throw new SignInFailure('invalid');
  return createRemoteJWKSet(new URL(jwksUri), { cooldownDuration: COOL_DOWN_MS });
}

/** Verifies a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6). @throws SignInFailure */
export async function verifyLogoutToken(
  token: string,
  keys: LogoutKeys,
  { issuer, audience }: { issuer: string; audience: string },
): Promise<LogoutToken> {
  const { jwtVerify } = await import('jose');
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    audience,
    algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    maxTokenAge: MAX_AGE_SECONDS,
  });
  const { sub: subject, sid, nonce, events } = payload;
  const isLogout = typeof events === 'object' && events !== null && EVENT in events && nonce === undefined;
  const isNamed = subject !== undefined || typeof sid === 'string';
  if (!isLogout || !isNamed) throw new SignInFailure('invalid');
  return { subject, sid: typeof sid === 'string' ? sid : undefined };
}
