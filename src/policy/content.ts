import canonicalize from 'canonicalize';

/** A body in canonical form (RFC 8785): the same whatever the order of its members and the blanks between them. */
export function canonical(body: object | undefined): string {
  return canonicalize(body ?? {}) ?? '';
}
