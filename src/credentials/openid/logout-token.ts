import { jwtVerify } from 'jose';
import { hash } from 'node:crypto';
import { isTokenText, SKEW_SECONDS } from '../../access/tokens/access-token';
import { readCompactJws } from '../../access/tokens/compact-jws';
import { OneTimeToken } from '../../access/tokens/used-tokens';
import { ProviderKeys } from '../../access/tokens/provider-keys';
import { clock } from '../../platform/database/clock';
import { verifyWith } from './provider-signature';
import { SignInFailure } from './sign-in-failure';

/** The session that the provider has ended, or the person whose sessions it has ended. */
export interface LogoutToken {
  subject: string | undefined;
  sid: string | undefined;
  /** By its issuer and its `jti`. It ends sessions once. */
  use: OneTimeToken;
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** The usual clock difference of servers, and the time that a token takes to arrive. */
const MAX_AGE_SECONDS = 120;

/** Providers from before the type was defined send none, or `JWT`. Other types are tokens for another purpose. */
const TYPES = /^(application\/)?(logout\+jwt|jwt)$/i;

/** More clients than a logout token is for. */
const MAX_CLIENTS = 10;

/** Returns which provider says that it made a logout token, and for whom. Nothing of it is verified. @throws if it is no token. */
export function addresseeOf(token: string): { issuer: string; clientIds: string[] } {
  const { iss, aud, azp } = readCompactJws(token)?.payload ?? {};
  const clientIds = [aud]
    .flat()
    .filter(isTokenText)
    .filter((id) => azp === undefined || id === azp);
  if (!isTokenText(iss) || clientIds.length > MAX_CLIENTS) throw new SignInFailure('invalid');
  return { issuer: iss, clientIds };
}

/** Verifies a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6). @throws SignInFailure */
export async function verifyLogoutToken(
  token: string,
  keys: ProviderKeys,
  { issuer, audience }: { issuer: string; audience: string },
): Promise<LogoutToken> {
  const required = {
    issuer,
    audience,
    algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    maxTokenAge: MAX_AGE_SECONDS,
    clockTolerance: SKEW_SECONDS,
    currentDate: clock.now(),
  };
  const { payload, protectedHeader } = await verifyWith(keys, token, (key) => jwtVerify(token, key, required));
  if (!TYPES.test(protectedHeader.typ ?? 'JWT')) throw new SignInFailure('invalid');
  const { sub: subject, sid, nonce, events, jti, iat = 0 } = payload;
  const isLogout = typeof events === 'object' && events !== null && EVENT in events && nonce === undefined;
  const isNamed = subject !== undefined || typeof sid === 'string';
  if (!isLogout || !isNamed || !isTokenText(jti)) throw new SignInFailure('invalid');
  const use = {
    sha256: hash('sha256', JSON.stringify(['logout', issuer, jti]), 'buffer'),
    countsUntil: iat + MAX_AGE_SECONDS + SKEW_SECONDS,
  };
  return { subject, sid: typeof sid === 'string' ? sid : undefined, use };
}
