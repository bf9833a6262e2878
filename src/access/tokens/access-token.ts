import { clock } from '../../platform/database/clock';
import { isObject } from '../../platform/json/is-object';
import { TOKEN_ALGORITHMS } from '../clients/providers';
import { CompactJws, expiredToken, invalidToken, readCompactJws } from './refusals';

/** An access token of a request, before verification. */
export interface SentToken {
  scheme: 'Bearer' | 'DPoP';
  token: string;
}

/** Returns the access token of the header `Authorization`. Undefined if missing or of another scheme. */
export function tokenIn(header: string | undefined): SentToken | undefined {
  const [, scheme = '', token = ''] = /^(bearer|dpop)(?: +(.*))?$/i.exec(header ?? '') ?? [];
  if (scheme === '') return undefined;
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', token };
}

/** Returns whether the header `Authorization` contains an API key, with any scheme or none. */
export function isKey(header = ''): boolean {
  const [, encoded] = /^basic +(.*)/i.exec(header) ?? [];
  const text = encoded === undefined ? header : Buffer.from(encoded, 'base64').toString('latin1');
  return /(?:^|[ :])ppe?_/.test(text);
}

/** A parsed token, before verification. */
export interface ParsedToken extends CompactJws {
  issuer: string;
  clientId: string;
  subject: string;
}

/** Parses a token, with its provider, app and person. @throws Problem `invalid_token` */
export function parseToken(token: string): ParsedToken {
  const jws = readCompactJws(token);
  if (!jws) throw invalidToken('it is not a JWT in the compact form');
  const { payload } = jws;
  return {
    ...jws,
    issuer: textOf(payload, 'iss'),
    clientId: textOf(payload, 'client_id'),
    subject: textOf(payload, 'sub'),
  };
}

/** The provider of a client's access tokens, and the required form of its tokens. */
export interface TokenSource {
  issuer: string;
  audience: string;
  jwksUri: string;
  algorithms: readonly string[];
  /** The client at the provider. */
  clientId: string;
}

/** The claims of an access token. */
export interface AccessTokenClaims {
  issuer: string;
  subject: string;
  /** `jti`. */
  id: string;
  scopes: readonly string[];
  /** Seconds since 1970. */
  issuedAt: number;
  expiresAt: number;
  /** Time of the person's sign-in at the provider. Null if omitted. */
  authTime: number | null;
  /** Thumbprint of the token's bound key (RFC 9449, section 6.1). Null for a bearer token. */
  jkt: string | null;
  /** The actor for the person (RFC 8693, section 4.1). Null if none. */
  act: { issuer: string; subject: string } | null;
}

/** Tolerance for a provider's clock ahead of ours, in seconds. */
export const SKEW_SECONDS = 10;

const MAX_TEXT = 500;

/**
 * Checks everything about an access token except its signature (RFC 9068, section 4). The header's `jwk`,
 * `jku`, `x5c` and `x5u` are ignored: a token must not choose its own key.
 * @throws Problem `invalid_token` or `token_expired`.
 */
export function checkAccessToken({ header, payload }: CompactJws, source: TokenSource): AccessTokenClaims {
  checkHeader(header, source);
  const { iss, aud, client_id: clientId, azp = clientId } = payload;
  if (iss !== source.issuer) throw invalidToken('another provider issued it');
  if (![aud].flat().includes(source.audience)) throw invalidToken('it was issued for another API (aud)');
  if (clientId !== source.clientId || azp !== clientId)
    throw invalidToken('it was issued to another app (client_id, azp)');
  const claims: AccessTokenClaims = {
    issuer: source.issuer,
    subject: textOf(payload, 'sub'),
    id: textOf(payload, 'jti'),
    scopes: scopeClaimOf(payload),
    issuedAt: timeOf(payload, 'iat'),
    expiresAt: timeOf(payload, 'exp'),
    authTime: payload.auth_time === undefined ? null : timeOf(payload, 'auth_time'),
    jkt: thumbprintOf(payload),
    act: actorOf(payload, source.issuer),
  };
  checkTimes(claims, payload.nbf === undefined ? claims.issuedAt : timeOf(payload, 'nbf'));
  return claims;
}

function checkHeader({ alg, typ, crit, kid }: Record<string, unknown>, { algorithms }: TokenSource): void {
  const isKnown = TOKEN_ALGORITHMS.some((known) => known === alg);
  if (!isKnown || !algorithms.includes(String(alg)))
    throw invalidToken('its signature algorithm (alg) is not allowed');
  if (!isAccessTokenType(typ)) throw invalidToken('its type (typ) is not at+jwt');
  if (crit !== undefined)
    throw invalidToken('it requires extensions (crit), which this API does not support');
  if (kid !== undefined && !isTokenText(kid)) throw invalidToken('its key ID (kid) is not a string');
}

/**
 * Returns whether the type is `at+jwt` (RFC 9068, section 2.1). Other tokens, such as ID tokens, are
 * rejected.
 */
function isAccessTokenType(typ: unknown): boolean {
  return typeof typ === 'string' && /^(application\/)?at\+jwt$/i.test(typ);
}

function checkTimes({ issuedAt, expiresAt }: AccessTokenClaims, notBefore: number): void {
  const now = clock.nowMs() / 1_000;
  if (issuedAt > now + SKEW_SECONDS || notBefore > now + SKEW_SECONDS)
    throw invalidToken('it is not valid yet');
  if (expiresAt <= now) throw expiredToken();
}

/** Returns a text claim. @throws Problem `invalid_token` */
function textOf(payload: Record<string, unknown>, name: string): string {
  const text = payload[name];
  if (!isTokenText(text))
    throw invalidToken(`its claim ${name} must be a string of 1 to ${MAX_TEXT} characters`);
  return text;
}

/** Returns whether a claim is a storable string, without control characters and lone surrogates. */
export function isTokenText(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= MAX_TEXT && !/[\p{Cc}\p{Cs}]/u.test(value)
  );
}

function timeOf(payload: Record<string, unknown>, name: string): number {
  const seconds = payload[name];
  if (typeof seconds !== 'number' || seconds < 0 || seconds > 1e11) {
    throw invalidToken(`its claim ${name} must be a number of seconds since 1970`);
  }
  return seconds;
}

function scopeClaimOf({ scope = '' }: Record<string, unknown>): string[] {
  if (typeof scope !== 'string') throw invalidToken('its claim scope must be a string');
  return scope.split(' ').filter((name) => name !== '');
}

/** Returns the thumbprint of the bound key. Refuses other bindings, such as to a certificate (RFC 8705). */
function thumbprintOf({ cnf }: Record<string, unknown>): string | null {
  if (cnf === undefined) return null;
  const { jkt, ...others } = isObject(cnf) ? cnf : {};
  if (typeof jkt !== 'string' || !/^[\w-]{43}$/.test(jkt) || Object.keys(others).length > 0) {
    throw invalidToken('it is bound by another method than cnf.jkt');
  }
  return jkt;
}

/** Returns the actor. Refuses nested actors (RFC 8693, section 4.1): records name one, and must omit none. */
function actorOf({ act }: Record<string, unknown>, issuer: string): AccessTokenClaims['act'] {
  if (act === undefined) return null;
  if (!isObject(act)) throw invalidToken('its claim act must be an object');
  if (act.act !== undefined) throw invalidToken('its claim act names several actors, and records name one');
  return { issuer: act.iss === undefined ? issuer : textOf(act, 'iss'), subject: textOf(act, 'sub') };
}

/** Unverified claims of a token. */
export interface TokenClaims {
  issuer: string;
  clientId: string;
  /** `afterClient` of the person (src/access/people/person.ts). */
  person: string;
}

/** A verified token, and the source that it was verified against. */
export interface TokenCredential {
  kind: 'token';
  claims: AccessTokenClaims;
  unverified: TokenClaims;
  /** JSON of the `TokenSource`. */
  source: string;
  /** Expiry, on the monotonic clock, in ms. */
  validUntil: number;
}
