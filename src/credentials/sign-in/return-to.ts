const CONSOLE = '/console';

/** Placeholder origin for resolving paths. */
const BASE = 'http://proxy.invalid';

/** Maximum length of an address in the cookie of a sign-in. */
const MAX_PAGE_LENGTH = 2_000;

/** Returns the page of a client to show after a sign-in. Undefined if its origin is not allowed. */
export function pageReturnTo(asked: string, origins: readonly string[]): string | undefined {
  if (asked.length > MAX_PAGE_LENGTH || !URL.canParse(asked)) return undefined;
  const { href, origin, username, password } = new URL(asked);
  // blob: URLs carry the origin of their page
  const isPage = href.startsWith(`${origin}/`) && username === '' && password === '';
  return isPage && origins.includes(origin) ? href : undefined;
}

/** Returns the console page to show after a sign-in. Replaces other addresses by the first page. */
export function safeReturnTo(asked: string | undefined): string {
  if (asked === undefined || !URL.canParse(asked, BASE)) return CONSOLE;
  const { origin, pathname, search, hash } = new URL(asked, BASE);
  const isOurs = origin === BASE && (pathname === CONSOLE || pathname.startsWith(`${CONSOLE}/`));
  return isOurs ? `${pathname}${search}${hash}` : CONSOLE;
}
