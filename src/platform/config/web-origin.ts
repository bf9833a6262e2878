/** Pages that a developer tries on the own machine have no certificate, and come over no network. */
const LOCAL = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * A web origin (RFC 6454) as browsers send it in the header Origin: `https://host[:port]` in lower case, without a path and
 * without the port that https has anyway. Another spelling would never be equal to it.
 */
export function isWebOrigin(text: string): boolean {
  if (LOCAL.test(text)) return URL.canParse(text) && new URL(text).origin === text;
  if (!/^https:\/\/[a-z0-9.:[\]-]+$/.test(text) || !URL.canParse(text)) return false; // URL takes wildcards for names
  return new URL(text).origin === text;
}
