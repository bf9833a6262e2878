import { parseCookie, stringifySetCookie } from 'cookie';
import { FastifyRequest } from 'fastify';

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
export function prefixed(request: FastifyRequest, name: string): string {
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
