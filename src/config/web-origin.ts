/**
 * A web origin (RFC 6454) as browsers send it in the header Origin: `https://host[:port]` in lower case, without a path and
 * without the port that https has anyway. Another spelling would never be equal to it.
 */
export function isWebOrigin(text: string): boolean {
  if (!/^https:\/\/[a-z0-9.:[\]-]+$/.test(text) || !URL.canParse(text)) return false; // URL takes wildcards for names
  return new URL(text).origin === text;
}
