import { hash, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import { FastifyRequest } from 'fastify';

interface NewCookie {
  /** Name without the prefix. */
  name: string;
  value: string;
  /** `lax` for a cookie that the browser must send after a redirect from another site. */
  sameSite: 'strict' | 'lax';
  /** Undefined for a cookie that ends with the browser. */
  maxAgeSeconds?: number;
}

/** Returns the cookie's name. Over TLS, `__Host-` blocks sibling hosts (RFC 6265bis, section 4.1.3.2). */
function prefixed(request: FastifyRequest, name: string): string {
  return hasTls(request) ? `__Host-${name}` : name;
}

/** Returns the value of our cookie. Undefined if missing or empty. */
export function cookieIn(request: FastifyRequest, name: string): string | undefined {
  return parseCookie(request.headers.cookie ?? '')[prefixed(request, name)] || undefined;
}

/** Returns the `Set-Cookie` header of an HttpOnly cookie. */
export function setCookie(
  request: FastifyRequest,
  { name, value, sameSite, maxAgeSeconds }: NewCookie,
): string {
  return stringifySetCookie({
    name: prefixed(request, name),
    value,
    path: '/',
    httpOnly: true,
    sameSite,
    secure: hasTls(request),
    ...(maxAgeSeconds !== undefined && { maxAge: maxAgeSeconds }),
  });
}

/** Returns the `Set-Cookie` header that deletes a cookie. */
export function endCookie(request: FastifyRequest, cookie: Pick<NewCookie, 'name' | 'sameSite'>): string {
  return setCookie(request, { ...cookie, value: '', maxAgeSeconds: 0 });
}

function hasTls({ call }: FastifyRequest): boolean {
  return call.ownOrigin.startsWith('https:');
}

export const CONSOLE_COOKIE = { name: 'payout_proxy', sameSite: 'strict' } as const;

/** Returns the session secret from the cookie. Undefined if missing. */
export function sessionTokenIn(request: FastifyRequest): string | undefined {
  return cookieIn(request, CONSOLE_COOKIE.name);
}

/**
 * Returns the `Set-Cookie` header of the console session. Scripts cannot read the cookie, other sites cannot
 * send it, and it ends with the browser.
 */
export function sessionCookie(request: FastifyRequest, token: string): string {
  return setCookie(request, { ...CONSOLE_COOKIE, value: token });
}

export function noSessionCookie(request: FastifyRequest): string {
  return endCookie(request, CONSOLE_COOKIE);
}

/**
 * Returns the required value of `X-CSRF-Token`. It is derived from the cookie's secret, so nothing is stored.
 * An attacker who can only make the browser send its cookie does not know it.
 */
export function csrfTokenOf(token: string): string {
  return hash('sha256', `csrf ${token}`, 'base64url');
}

/** Returns whether a request carries the CSRF token, which only pages that read our responses know. */
export function hasCsrfToken({ headers }: FastifyRequest, token: string): boolean {
  const sent = Buffer.from(String(headers['x-csrf-token'] ?? ''));
  const expected = Buffer.from(csrfTokenOf(token));
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/** The form of a session's secret: 32 random bytes. */
const TOKEN = /^[\w-]{43}$/;

export const PAGE_COOKIE_PREFIX = 'payout_proxy_page_';

const cookieOf = (client: string) =>
  ({ name: `${PAGE_COOKIE_PREFIX}${client}`, sameSite: 'strict' }) as const;

/** A page session's cookie. */
export interface PageToken {
  /** The client in the cookie's name. */
  client: string;
  /** The secret. */
  token: string;
}

/** Returns the secret of the browser's page session of a client. Undefined if missing. */
export function pageTokenOf(request: FastifyRequest, client: string): string | undefined {
  const token = cookieIn(request, cookieOf(client).name);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/**
 * Returns the page session of a request. A browser sends the cookies of all clients, and the page selects one
 * by its CSRF token.
 */
export function pageTokenByCsrf(request: FastifyRequest): PageToken | undefined {
  if (request.headers['x-csrf-token'] === undefined) return undefined;
  const found = [...pageTokensIn(request)].find(([, token]) => hasCsrfToken(request, token));
  return found && { client: found[0], token: found[1] };
}

/** Returns whether a request has the cookie of a page session. */
export function hasPageSession(request: FastifyRequest): boolean {
  return pageTokensIn(request).size > 0;
}

/**
 * Returns the `Set-Cookie` header of a page session. Scripts cannot read the cookie, other sites cannot send
 * it, and it ends with the browser.
 */
export function pageSessionCookie(request: FastifyRequest, client: string, token: string): string {
  return setCookie(request, { ...cookieOf(client), value: token });
}

export function noPageSessionCookie(request: FastifyRequest, client: string): string {
  return endCookie(request, cookieOf(client));
}

/** Returns the secrets of the browser's page sessions, by client. */
function pageTokensIn(request: FastifyRequest): Map<string, string> {
  const { cookie: header } = request.headers;
  if (header === undefined || !header.includes(PAGE_COOKIE_PREFIX)) return new Map();
  const prefix = prefixed(request, PAGE_COOKIE_PREFIX);
  const named = Object.entries(parseCookie(header)).filter(
    (entry): entry is [string, string] => entry[0].startsWith(prefix) && TOKEN.test(entry[1] ?? ''),
  );
  return new Map(named.map(([name, token]) => [name.slice(prefix.length), token]));
}
