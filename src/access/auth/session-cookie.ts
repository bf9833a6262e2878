import { parseCookie, stringifySetCookie } from 'cookie';
import { FastifyRequest } from 'fastify';
import { hash, timingSafeEqual } from 'node:crypto';

/** Over TLS with the prefix that keeps neighbours from setting it (RFC 6265bis, section 4.1.3.2). */
const nameFor = ({ protocol }: FastifyRequest) => (protocol === 'https' ? '__Host-payout_proxy' : 'payout_proxy');

/** What the browser holds of whoever is signed in; undefined: nothing. */
export function sessionTokenIn(request: FastifyRequest): string | undefined {
  const token = parseCookie(request.headers.cookie ?? '')[nameFor(request)];
  return token === '' ? undefined : token;
}

/** A header `Set-Cookie`. No script can read it, no other site's page sends it, and it ends with the browser. */
export function sessionCookie(request: FastifyRequest, token: string): string {
  return cookie(request, token);
}

export function noSessionCookie(request: FastifyRequest): string {
  return cookie(request, '', { maxAge: 0 });
}

/**
 * What a page must say in `X-CSRF-Token`: whoever can only make the browser send its cookie does not know it. It follows
 * from the cookie's secret, so there is nothing to keep.
 */
export function csrfTokenOf(token: string): string {
  return hash('sha256', `csrf ${token}`, 'base64url');
}

/** Whether a request proves that it comes from a page which could read our answers. */
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
