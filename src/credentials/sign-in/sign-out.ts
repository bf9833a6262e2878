import { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cookieIn, endCookie, setCookie } from '../../access/sessions/cookies';
import { sendPage, SignInPage } from './sign-in-page';

const PATH = '/session/sign-out';

/** How long a browser may take to open the address. */
const LONGEST_SECONDS = 300;

/** Browsers drop cookies of more than 4,096 bytes, and base64 takes a third more. */
const MAX_ADDRESS_LENGTH = 2_900;

const COOKIE = { name: 'payout_proxy_sign_out', sameSite: 'strict' } as const;

/**
 * Lets a browser whose session has ended sign out at the provider. The provider's address contains an ID token, so the scripts
 * of the page do not get it: a cookie holds it until the browser opens our own address.
 * @param address at the provider. Undefined if it has none.
 * @returns the address for the browser to open. Null if there is nothing to sign out of.
 */
export function signOutUrl(request: FastifyRequest, reply: FastifyReply, address: string | undefined): string | null {
  if (address === undefined) return null;
  const away = new URL(address);
  // The provider then asks the person, because it does not know who wants to sign out.
  if (address.length > MAX_ADDRESS_LENGTH) away.searchParams.delete('id_token_hint');
  const value = Buffer.from(away.href).toString('base64url');
  void reply.header('set-cookie', setCookie(request, { ...COOKIE, value, maxAgeSeconds: LONGEST_SECONDS }));
  return `${request.call.ownOrigin}${PATH}`;
}

/** Serves the address that leads to the provider. */
export function serveSignOut(server: FastifyInstance): void {
  server.get(PATH, (request, reply) => {
    const address = Buffer.from(cookieIn(request, COOKIE.name) ?? '', 'base64url').toString();
    if (!/^https?:\/\//.test(address) || !URL.canParse(address)) return sendPage(reply, SIGNED_OUT);
    return reply
      .header('set-cookie', endCookie(request, COOKIE))
      .header('referrer-policy', 'no-referrer')
      .redirect(address, 303);
  });
}

const SIGNED_OUT: SignInPage = {
  status: 200,
  title: 'Signed out',
  text: 'You are signed out here. If you used a computer of somebody else, sign out at the OpenID provider, too.',
};
