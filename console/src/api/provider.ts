/** Sign-in methods, which the server writes into the page. */
const METHODS = (document.documentElement.dataset.signIn ?? 'key').split(' ');

/** True if people sign in at an OpenID provider. */
export const hasProvider = METHODS.includes('provider');

/** True if people sign in with keys. */
export const takesKeys = METHODS.includes('key');

/** Returns the URL of the provider's sign-in, which leads back to this page. */
export function signInAddress({ stepUp = false } = {}): string {
  const { pathname, search } = location;
  const query = new URLSearchParams({ return_to: `${pathname}${search}` });
  if (stepUp) query.set('step_up', '1');
  return `/session/sign-in?${query.toString()}`;
}
