const CONSOLE = '/console';

/** Any origin. It only completes paths. */
const BASE = 'http://proxy.invalid';

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
