import { parseCookie, stringifySetCookie } from 'cookie';
import { FastifyRequest } from 'fastify';
import { hash, timingSafeEqual } from 'node:crypto';

interface NewCookie {
  /** Without a prefix. */
  name: string;
  value: string;
  /** `lax` for a cookie that must come along when another site leads here. */
  sameSite: 'strict' | 'lax';
  /** Undefined: it ends with the browser. */
  maxAgeSeconds?: number;
}

/** Over TLS, the prefix keeps neighbouring hosts from setting the cookie (RFC 6265bis, section 4.1.3.2). */
function prefixed(request: FastifyRequest, name: string): string {
  return hasTls(request) ? `__Host-${name}` : name;
}

/** Returns a cookie of ours. Undefined if the browser sends none, or an empty one. */
export function cookieIn(request: FastifyRequest, name: string): string | undefined {
  return parseCookie(request.headers.cookie ?? '')[prefixed(request, name)] || undefined;
}

/** Returns the `Set-Cookie` header of a cookie that scripts cannot read. */
export function setCookie(request: FastifyRequest, { name, value, sameSite, maxAgeSeconds }: NewCookie): string {
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

/** Returns the `Set-Cookie` header that ends a cookie. */
export function endCookie(request: FastifyRequest, cookie: Pick<NewCookie, 'name' | 'sameSite'>): string {
  return setCookie(request, { ...cookie, value: '', maxAgeSeconds: 0 });
}

function hasTls({ call }: FastifyRequest): boolean {
  return call.ownOrigin.startsWith('https:');
}

export const CONSOLE_COOKIE = { name: 'payout_proxy', sameSite: 'strict' } as const;

/** Returns the session secret from the cookie. Undefined if there is none. */
export function sessionTokenIn(request: FastifyRequest): string | undefined {
  return cookieIn(request, CONSOLE_COOKIE.name);
}

/**
 * Returns the `Set-Cookie` header. Scripts cannot read the cookie, other sites' pages cannot send it, and it ends with
 * the browser.
 */
export function sessionCookie(request: FastifyRequest, token: string): string {
  return setCookie(request, { ...CONSOLE_COOKIE, value: token });
}

export function noSessionCookie(request: FastifyRequest): string {
  return endCookie(request, CONSOLE_COOKIE);
}

/**
 * Returns the token that a page must send in `X-CSRF-Token`. An attacker who can only make the browser send its cookie
 * does not know it. It is derived from the cookie's secret, so nothing is stored.
 */
export function csrfTokenOf(token: string): string {
  return hash('sha256', `csrf ${token}`, 'base64url');
}

/** Whether a request proves that it comes from a page that could read our responses. */
export function hasCsrfToken({ headers }: FastifyRequest, token: string): boolean {
  const [said, expected] = [headers['x-csrf-token'] ?? '', csrfTokenOf(token)].map((one) => Buffer.from(String(one)));
  return (
    said !== undefined && expected !== undefined && said.length === expected.length && timingSafeEqual(said, expected)
  );
}

/** The form of a session's secret: 32 random bytes. */
const TOKEN = /^[\w-]{43}$/;

export const PAGE_COOKIE_PREFIX = 'payout_proxy_page_';

const cookieOf = (client: string) => ({ name: `${PAGE_COOKIE_PREFIX}${client}`, sameSite: 'strict' }) as const;

/** The cookie of a page session. */
export interface PageToken {
  /** The client that its name states. */
  client: string;
  /** The secret. */
  token: string;
}

/** Returns the secret of the browser's session on the pages of a client. Undefined if there is none. */
export function pageTokenOf(request: FastifyRequest, client: string): string | undefined {
  const token = cookieIn(request, cookieOf(client).name);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/**
 * Returns the page session that a request comes from. A browser sends the cookies of all clients. The page tells
 * which of them it means by sending the CSRF token of that session.
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
 * Returns the `Set-Cookie` header. Scripts cannot read the cookie, pages of other sites cannot send it, and it ends with the
 * browser.
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
