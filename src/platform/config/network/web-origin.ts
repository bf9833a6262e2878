/** Origins of pages on a developer's machine, which need no certificate. */
const LOCAL = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Returns whether text is a web origin (RFC 6454) as browsers send it in the header Origin:
 * `https://host[:port]` in lower case, without a path and the default port.
 */
export function isWebOrigin(text: string): boolean {
  if (LOCAL.test(text)) return URL.canParse(text) && new URL(text).origin === text;
  // URL accepts wildcards as names
  if (!/^https:\/\/[a-z0-9.:[\]-]+$/.test(text) || !URL.canParse(text)) return false;
  return new URL(text).origin === text;
}
