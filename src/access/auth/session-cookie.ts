import { parseCookie, stringifySetCookie } from 'cookie';
import { FastifyRequest } from 'fastify';
import { hash, timingSafeEqual } from 'node:crypto';

/** Over TLS, its prefix keeps neighbouring hosts from setting it (RFC 6265bis, section 4.1.3.2). */
const nameFor = ({ protocol }: FastifyRequest) => (protocol === 'https' ? '__Host-payout_proxy' : 'payout_proxy');

/** Returns the session secret from the cookie. Undefined if there is none. */
export function sessionTokenIn(request: FastifyRequest): string | undefined {
  const token = parseCookie(request.headers.cookie ?? '')[nameFor(request)];
  return token === '' ? undefined : token;
}

/**
 * Returns the `Set-Cookie` header. Scripts cannot read the cookie, other sites' pages cannot send it, and it ends with
 * the browser.
 */
export function sessionCookie(request: FastifyRequest, token: string): string {
  return cookie(request, token);
}

export function noSessionCookie(request: FastifyRequest): string {
  return cookie(request, '', { maxAge: 0 });
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

function cookie(request: FastifyRequest, value: string, more: { maxAge?: number } = {}): string {
  return stringifySetCookie({
    name: nameFor(request),
    value,
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: request.protocol === 'https',
    ...more,
  });
}
