const CONSOLE = '/console';

/** Any origin. It only completes paths. */
const BASE = 'http://proxy.invalid';

/** The longest address that fits in the cookie of a sign-in. */
const MAX_PAGE_LENGTH = 2_000;

/** Returns the page of a client to show after a sign-in. Undefined unless it is of an origin that the client allows. */
export function pageReturnTo(asked: string, origins: readonly string[]): string | undefined {
  if (asked.length > MAX_PAGE_LENGTH || !URL.canParse(asked)) return undefined;
  const { href, origin, username, password } = new URL(asked);
  // The URLs of blobs have the origin of their page, too.
  const isPage = href.startsWith(`${origin}/`) && username === '' && password === '';
  return isPage && origins.includes(origin) ? href : undefined;
}

/**
 * Returns the page to show after a sign-in: one of the console. Anything else, such as an address of another site, becomes
 * the console's first page.
 */
export function safeReturnTo(asked: string | undefined): string {
  if (asked === undefined || !URL.canParse(asked, BASE)) return CONSOLE;
  const { origin, pathname, search, hash } = new URL(asked, BASE);
  const isOurs = origin === BASE && (pathname === CONSOLE || pathname.startsWith(`${CONSOLE}/`));
  return isOurs ? `${pathname}${search}${hash}` : CONSOLE;
}
