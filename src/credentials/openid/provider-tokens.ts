import { CryptoKey, JWTHeaderParameters, jwtVerify } from 'jose';
import { hash } from 'node:crypto';
import { isTokenText, SKEW_SECONDS } from '../../access/tokens/access-token';
import { readCompactJws } from '../../access/tokens/refusals';
import { ProviderKeys } from '../../access/tokens/provider-keys';
import { OneTimeToken } from '../../access/tokens/used-proofs.service';
import { clock } from '../../platform/database/clock';
import { Problem } from '../../platform/errors/problem';
import { SignInFailure } from './sign-in-failure';

/** How long a sign-in, or a sign-out, waits for the keys. */
const PATIENCE_MS = 5_000;

/**
 * Verifies a token of a provider by the keys that it may be signed with.
 * @param verify rejects if the key does not fit.
 * @throws SignInFailure `unreachable` if the keys cannot be read, and `invalid` if none of them fits.
 */
export async function verifyWith<Verified>(
  keys: ProviderKeys,
  token: string,
  verify: (key: CryptoKey) => Promise<Verified>,
): Promise<Verified> {
  const jws = readCompactJws(token);
  if (jws === undefined) throw new SignInFailure('invalid');
  const fitting = await keys.keysFor(jws.header as JWTHeaderParameters, PATIENCE_MS).catch((error: unknown) => {
    const isUnread = error instanceof Problem && error.code === 'provider_unavailable';
    throw new SignInFailure(isUnread ? 'unreachable' : 'invalid', undefined, error);
  });
  return Promise.any(fitting.map(verify)).catch((error: unknown) => {
    throw new SignInFailure('invalid', undefined, error);
  });
}

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
