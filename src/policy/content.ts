import canonicalize from 'canonicalize';
import { jsonText } from '../platform/json/json-text';

/** Returns a body in canonical form (RFC 8785), independent of the order of members and of white space. */
export function canonical(body: object | undefined): string {
  return canonicalize(body ?? {}) ?? '';
}

/** Returns a value in canonical form. Most are short texts and amounts. */
export function canonicalValue(value: unknown): string {
  return typeof value === 'string' ? jsonText(value) : (canonicalize(value) ?? '');
}

/**
 * Returns an object in canonical form.
 * @param names of its members, which are sorted in place.
 * @param valueOf the canonical form of a member.
 */
export function canonicalObject(names: string[], valueOf: (name: string) => string): string {
  let text = '';
  for (const name of names.sort()) text += `${text === '' ? '' : ','}${jsonText(name)}:${valueOf(name)}`;
  return `{${text}}`;
}
