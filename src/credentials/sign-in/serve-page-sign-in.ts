import { Logger } from '@nestjs/common';
import { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isAllowedFrom } from '../../access/auth/authenticate';
import { remainingMs } from '../../access/auth/call';
import { CLIENT_NAME } from '../../access/clients/client-writes';
import { PersonsService } from '../../access/people/persons.service';
import { pageSessionCookie, pageTokenOf } from '../../access/sessions/cookies';
import { PageSessionsService } from '../../access/sessions/page-sessions.service';
import { hashOf } from '../../access/sessions/session-life';
import { CompletedSignIn } from '../openid/openid-provider';
import { PageProvidersService, ClientPages } from '../openid/page-providers.service';
import { newTransaction, Transaction, transactionIn } from '../openid/transaction';
import { pageReturnTo } from './return-to';
import { beginSignIn, completeSignIn, noDatabase, withFailurePages, SignInTarget } from './sign-in-flow';
import { notBegunPage, NextSteps, wrongAddressPage, sendPage, SignInPage } from './sign-in-pages';

interface PageSignInServices {
  pageSessions: PageSessionsService;
  pageProviders: PageProvidersService;
  persons: PersonsService;
}

interface SignInRequest {
  Params: { client: string };
  Querystring: { return_to?: string | string[] };
}

type Request = FastifyRequest<SignInRequest>;

const logger = new Logger('Sessions');

/** Serves the browser's routes of page sign-ins. Answers errors with pages. */
export function servePageSignIn(server: FastifyInstance, services: PageSignInServices): void {
  server.get<SignInRequest>('/session/pages/:client/sign-in', (request, reply) =>
    begin(request, reply, services),
  );
  server.get<SignInRequest>('/session/pages/:client/callback', (request, reply) =>
    complete(request, reply, services),
  );
}

async function begin(
  request: Request,
  reply: FastifyReply,
  services: PageSignInServices,
): Promise<FastifyReply> {
  const { return_to: url } = request.query;
  const { client } = request.params;
  return withFailurePages(reply, nextStepsOf(client, '/'), async () => {
    const pages = await find(client, services);
    if (pages === undefined) return sendPage(reply, NO_PAGES);
    const returnTo = pageReturnTo(typeof url === 'string' ? url : '', pages.caller.limits.origins);
    if (returnTo === undefined) return sendPage(reply, FOREIGN_PAGE);
    const current = pageTokenOf(request, client);
    const replaces = current === undefined ? {} : { replaces: hashOf(current) };
    const transaction = newTransaction({ returnTo, isStepUp: false, ...replaces });
    return beginSignIn(request, reply, targetFor(request, pages), transaction);
  });
}

async function complete(
  request: Request,
  reply: FastifyReply,
  services: PageSignInServices,
): Promise<FastifyReply> {
  const { client } = request.params;
  const transaction = transactionIn(request, client);
  if (transaction === undefined) return sendPage(reply, notBegunPage(nextStepsOf(client, '/')));
  return withFailurePages(reply, nextStepsOf(client, '/'), async () => {
    const pages = await find(client, services);
    if (pages === undefined) return sendPage(reply, NO_PAGES);
    // The cookie is untrusted, and the list of origins may have changed.
    const returnTo = pageReturnTo(transaction.returnTo, pages.caller.limits.origins);
    if (returnTo === undefined) return sendPage(reply, FOREIGN_PAGE);
    const nextSteps = nextStepsOf(client, returnTo);
    return withFailurePages(reply, nextSteps, async () => {
      const completed = await completeSignIn(request, reply, targetFor(request, pages), transaction);
      if (!isAllowedFrom(pages.caller, request.call.clientAddress))
        return sendPage(reply, wrongAddressPage(nextSteps));
      const { origin } = new URL(returnTo);
      const token = await signIn(request, services, { pages, completed, transaction, origin });
      const cookie = pageSessionCookie(request, client, token);
      return reply
        .header('set-cookie', cookie)
        .header('referrer-policy', 'no-referrer')
        .redirect(returnTo, 303);
    });
  });
}

interface PageSignIn {
  pages: ClientPages;
  completed: CompletedSignIn;
  transaction: Transaction;
  /** The origin of the page. */
  origin: string;
}

/** @returns the secret of the session. */
async function signIn(
  { call }: Request,
  { pageSessions, persons }: PageSignInServices,
  { pages, completed, transaction, origin }: PageSignIn,
): Promise<string> {
  const { caller } = pages;
  const { issuer, subject } = completed;
  const options = { timeoutMs: remainingMs(call), isPayment: false };
  const person = await persons.find(caller, { issuer, name: subject }, options).catch(noDatabase);
  if (transaction.replaces !== undefined) await pageSessions.replace(transaction.replaces).catch(noDatabase);
  const session = { keyId: caller.keyId, personId: person.id, origin };
  const token = await pageSessions.begin(session, completed).catch(noDatabase);
  logger.log({ call_id: call.id, client: caller.clientName, person_id: person.id }, 'signed in to a page');
  return token;
}

async function find(client: string, { pageProviders }: PageSignInServices): Promise<ClientPages | undefined> {
  return CLIENT_NAME.test(client) ? pageProviders.find(client).catch(noDatabase) : undefined;
}

function targetFor({ call }: Request, { caller, provider }: ClientPages): SignInTarget {
  const client = caller.clientName;
  return { provider, client, redirectUri: `${call.ownOrigin}/session/pages/${client}/callback` };
}

function nextStepsOf(client: string, page: string): NextSteps {
  const to = `/session/pages/${encodeURIComponent(client)}/sign-in?return_to=${encodeURIComponent(page)}`;
  const back = { to: page, label: 'Back to the page' };
  const again = page === '/' ? back : { to, label: 'Sign in again' };
  return { again, stronger: again, back };
}

const NO_PAGES: SignInPage = {
  status: 404,
  title: 'No sign-in for this client',
  text:
    'This client does not exist, or its pages have no sign-in. ' +
    'Ask the operator of the proxy to set page_issuer and page_client_id of the client.',
};

const FOREIGN_PAGE: SignInPage = {
  status: 400,
  title: 'This page may not sign you in',
  text:
    'The address to return to (return_to) must be a URL of an origin that the client allows. ' +
    'You are not signed in. Tell the developers of the page.',
};
