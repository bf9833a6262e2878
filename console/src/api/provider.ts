/** How people sign in, as the page says. */
const WAYS = (document.documentElement.dataset.signIn ?? 'key').split(' ');

/** Whether people sign in at an OpenID provider. */
export const hasProvider = WAYS.includes('provider');

/** Whether people sign in with keys. */
export const takesKeys = WAYS.includes('key');

/** Returns the address where a person signs in, and then returns to this page. */
export function signInAddress({ stepUp = false } = {}): string {
  const { pathname, search } = location;
  const query = new URLSearchParams({ return_to: `${pathname}${search}` });
  if (stepUp) query.set('step_up', '1');
  return `/session/sign-in?${query.toString()}`;
}
