import { hash } from 'node:crypto';
import { CryptoKey, JWTHeaderParameters, jwtVerify } from 'jose';
import { isTokenText, SKEW_SECONDS } from '../../access/tokens/access-token';
import { ProviderKeys } from '../../access/tokens/provider-keys';
import { readCompactJws } from '../../access/tokens/refusals';
import { OneTimeToken } from '../../access/tokens/used-proofs.service';
import { clock } from '../../platform/database/clock';
import { Problem } from '../../platform/errors/problem';
import { SignInFailure } from './sign-in-failure';

/** Maximum wait of a sign-in or a sign-out for the keys, in ms. */
const TIMEOUT_MS = 5_000;

/**
 * Verifies a token of a provider with its candidate keys.
 * @param verify rejects for the wrong key.
 * @throws SignInFailure `unreachable` if the keys cannot be read, `invalid` if no key verifies the token.
 */
export async function verifyWith<Verified>(
  keys: ProviderKeys,
  token: string,
  verify: (key: CryptoKey) => Promise<Verified>,
): Promise<Verified> {
  const jws = readCompactJws(token);
  if (jws === undefined) throw new SignInFailure('invalid');
  const fitting = await keys
    .keysFor(jws.header as JWTHeaderParameters, TIMEOUT_MS)
    .catch((error: unknown) => {
      const isUnread = error instanceof Problem && error.code === 'provider_unavailable';
      throw new SignInFailure(isUnread ? 'unreachable' : 'invalid', undefined, error);
    });
  return Promise.any(fitting.map(verify)).catch((error: unknown) => {
    throw new SignInFailure('invalid', undefined, error);
  });
}

/** A verified logout token: an ended session, or a person whose sessions have ended. */
export interface LogoutToken {
  subject: string | undefined;
  sid: string | undefined;
  /** One-time use, by its issuer and its `jti`. */
  use: OneTimeToken;
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Maximum age of a logout token. Covers clock skew and delivery. */
const MAX_AGE_SECONDS = 120;

/** Accepted types. Older providers send none or `JWT`. Other types mark tokens for another purpose. */
const TYPES = /^(application\/)?(logout\+jwt|jwt)$/i;

/** Maximum number of audiences of a logout token. */
const MAX_CLIENTS = 10;

/** Returns the unverified issuer and audiences of a logout token. @throws for a malformed token. */
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
  const { payload, protectedHeader } = await verifyWith(keys, token, (key) =>
    jwtVerify(token, key, required),
  );
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
