import canonicalize from 'canonicalize';

/** Returns a body in canonical form (RFC 8785), which does not depend on the order of members or on white space. */
export function canonical(body: object | undefined): string {
  return canonicalize(body ?? {}) ?? '';
}
