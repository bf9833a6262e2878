import { SignInFailure } from './sign-in-failure';

/** The session that the provider has ended, or the person whose sessions it has ended. */
export interface LogoutToken {
  subject: string | undefined;
  sid: string | undefined;
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** The usual clock difference of servers, and the time that a token takes to arrive. */
const MAX_AGE_SECONDS = 120;

/** Returns which provider says that it made a logout token, and for whom. Nothing of it is verified. @throws if it is no token. */
export async function addresseeOf(token: string): Promise<{ issuer: string; clientIds: string[] }> {
  const { decodeJwt } = await import('jose');
  const { iss = '', aud = [] } = decodeJwt(token);
  return { issuer: iss, clientIds: [aud].flat() };
}

/** Verifies a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6). @throws SignInFailure */
export async function verifyLogoutToken(
  token: string,
  { issuer, audience, jwksUri }: { issuer: string; audience: string; jwksUri: string },
): Promise<LogoutToken> {
  const { createRemoteJWKSet, jwtVerify } = await import('jose');
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(jwksUri)), {
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
