import canonicalize from 'canonicalize';

/** Returns a body in canonical form (RFC 8785), independent of the order of members and of white space. */
export function canonical(body: object | undefined): string {
  return canonicalize(body ?? {}) ?? '';
}
