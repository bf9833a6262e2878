import { FastifyRequest } from 'fastify';
import { hash, timingSafeEqual } from 'node:crypto';
import { cookieIn, endCookie, setCookie } from './cookies';

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
