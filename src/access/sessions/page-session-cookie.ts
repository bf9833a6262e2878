import { parseCookie } from 'cookie';
import { FastifyRequest } from 'fastify';
import { cookieIn, endCookie, prefixed, setCookie } from './cookies';
import { hasCsrfToken } from './session-cookie';

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
