const CONSOLE = '/console';

/** Placeholder origin for resolving paths. */
const BASE = 'http://proxy.invalid';

/** Maximum length of an address in the cookie of a sign-in. */
const MAX_PAGE_LENGTH = 2_000;

/** Returns the page of a client to show after a sign-in. Undefined if its origin is not allowed. */
export function pageReturnTo(url: string, origins: readonly string[]): string | undefined {
  if (url.length > MAX_PAGE_LENGTH || !URL.canParse(url)) return undefined;
  const { href, origin, username, password } = new URL(url);
  // A blob: URL has the origin of its page.
  const isPage = href.startsWith(`${origin}/`) && username === '' && password === '';
  return isPage && origins.includes(origin) ? href : undefined;
}

/** Returns the console page to show after a sign-in. Replaces other addresses by the first page. */
export function safeReturnTo(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url, BASE)) return CONSOLE;
  const { origin, pathname, search, hash } = new URL(url, BASE);
  const isOurs = origin === BASE && (pathname === CONSOLE || pathname.startsWith(`${CONSOLE}/`));
  return isOurs ? `${pathname}${search}${hash}` : CONSOLE;
}
