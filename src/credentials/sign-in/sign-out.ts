import { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CLIENT_NAME } from '../../access/clients/client-writes';
import { cookieIn, endCookie, setCookie } from '../../access/sessions/cookies';
import { OpenIdProvider } from '../openid/openid-provider';
import { ConsoleProviderService, PageProvidersService } from '../openid/page-providers.service';
import { pageReturnTo } from './return-to';
import { sendPage, SignInPage } from './sign-in-pages';

const PATH = '/session/sign-out';

/** Maximum time until the browser opens the address, in seconds. */
const LONGEST_SECONDS = 300;

/** Maximum length of a cookie's value. Browsers drop cookies above 4,096 bytes, and base64 adds a third. */
const MAX_VALUE_LENGTH = 2_900;

const COOKIE = { name: 'payout_proxy_sign_out', sameSite: 'strict' } as const;

/** A session that has ended here, but not yet at the provider. */
interface SignOut {
  /** The client of the page. Undefined for the console. */
  client?: string;
  idToken?: string;
  /** The page of the client to show afterwards. */
  returnTo?: string;
}

interface SignOutServices {
  consoleProvider: ConsoleProviderService;
  pageProviders: PageProvidersService;
}

/**
 * Prepares a sign-out at the provider after the end of a session. The provider's URL contains an ID token, so
 * it is hidden from scripts: a cookie holds it until the browser opens our own address.
 * @returns the address for the browser. Null if the provider has none.
 */
export async function signOutUrl(
  request: FastifyRequest,
  reply: FastifyReply,
  provider: Pick<OpenIdProvider, 'endSessionUrl'>,
  signOut: SignOut,
): Promise<string | null> {
  if ((await provider.endSessionUrl(signOut.idToken)) === undefined) return null;
  const whole = JSON.stringify(signOut);
  // Without an ID token, the provider cannot identify the person, so it asks for a confirmation.
  const text = whole.length > MAX_VALUE_LENGTH ? JSON.stringify({ ...signOut, idToken: undefined }) : whole;
  const value = Buffer.from(text).toString('base64url');
  void reply.header('set-cookie', setCookie(request, { ...COOKIE, value, maxAgeSeconds: LONGEST_SECONDS }));
  return `${request.call.ownOrigin}${PATH}`;
}

/** Serves the redirect to the provider's sign-out. */
export function serveSignOut(server: FastifyInstance, services: SignOutServices): void {
  server.get(PATH, async (request, reply) => {
    const address = await addressFor(request, services).catch(() => undefined);
    if (address === undefined) return sendPage(reply, SIGNED_OUT);
    return reply
      .header('set-cookie', endCookie(request, COOKIE))
      .header('referrer-policy', 'no-referrer')
      .redirect(address, 303);
  });
}

/** Returns the URL at the provider. The cookie is untrusted: only our providers and allowed pages count. */
async function addressFor(
  request: FastifyRequest,
  { consoleProvider, pageProviders }: SignOutServices,
): Promise<string | undefined> {
  const text = Buffer.from(cookieIn(request, COOKIE.name) ?? '', 'base64url').toString();
  const { client, idToken, returnTo } = JSON.parse(text) as Partial<Record<keyof SignOut, unknown>>;
  const hint = typeof idToken === 'string' ? idToken : undefined;
  if (client === undefined)
    return consoleProvider.configured?.endSessionUrl(hint, `${request.call.ownOrigin}/console`);
  if (typeof client !== 'string' || !CLIENT_NAME.test(client)) return undefined;
  const pages = await pageProviders.find(client);
  return pages?.provider.endSessionUrl(hint, pageReturnTo(String(returnTo), pages.caller.limits.origins));
}

const SIGNED_OUT: SignInPage = {
  status: 200,
  title: 'Signed out',
  text: 'You are signed out here. On a shared computer, sign out at the OpenID provider, too.',
};
