import { INestApplication, Logger } from '@nestjs/common';
import { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PersonsService } from '../../access/people/persons.service';
import { PageSessionsService } from '../../access/sessions/page-sessions.service';
import { ProviderSignOutsService } from '../../access/sessions/provider-sign-outs.service';
import { SessionsService } from '../../access/sessions/sessions.service';
import { OpenIdProvider } from '../openid/openid-provider';
import { ConsoleProviderService, PageProvidersService } from '../openid/page-providers.service';
import { addresseeOf } from '../openid/provider-tokens';
import { asSignInFailure, FailureKind, SignInFailure } from '../openid/sign-in-failure';
import { serveConsoleSignIn } from './serve-console-sign-in';
import { servePageSignIn } from './serve-page-sign-in';
import { noDatabase } from './sign-in-flow';
import { serveSignOut } from './sign-out';

interface LogoutServices {
  signOuts: ProviderSignOutsService;
  consoleProvider: ConsoleProviderService;
  pageProviders: PageProvidersService;
}

/** Maximum length of a logout token. */
const MAX_LOGOUT_BYTES = 16_384;

/** Transient failures, after which the provider may send the token again. */
const TRANSIENT: FailureKind[] = ['unreachable', 'no_database'];

const logger = new Logger('Sessions');

/** Serves OpenID Connect Back-Channel Logout 1.0. */
async function serveBackchannelLogout(server: FastifyInstance, services: LogoutServices): Promise<void> {
  await server.register((scope, _options, done) => {
    const form = 'application/x-www-form-urlencoded';
    scope.addContentTypeParser(
      form,
      { parseAs: 'string', bodyLimit: MAX_LOGOUT_BYTES },
      (_request, body, parsed) => parsed(null, new URLSearchParams(String(body)).get('logout_token') ?? ''),
    );
    scope.post('/session/backchannel-logout', (request, reply) => logOut(request, reply, services));
    done();
  });
}

async function logOut(
  { body }: FastifyRequest,
  reply: FastifyReply,
  services: LogoutServices,
): Promise<FastifyReply> {
  try {
    await endSessions(typeof body === 'string' ? body : '', services);
    return await reply.status(200).send();
  } catch (failure) {
    const { kind } = asSignInFailure(failure);
    logger.warn({ call_id: reply.request.call.id, reason: kind }, 'logout token refused');
    return reply.status(TRANSIENT.includes(kind) ? 503 : 400).send({ error: 'invalid_request' });
  }
}

/**
 * Handles a logout token: ends one session or all sessions of its person, in the console or on pages.
 * @throws SignInFailure for an invalid or used token.
 */
async function endSessions(
  token: string,
  { signOuts, consoleProvider, pageProviders }: LogoutServices,
): Promise<void> {
  const addressee = addresseeOf(token);
  const { issuer, clientIds } = addressee;
  const ofConsole = isRegistered(consoleProvider.configured, issuer, clientIds)
    ? consoleProvider.configured
    : undefined;
  const pages = await pageProviders.findByRegistration(addressee).catch(noDatabase);
  const provider = ofConsole ?? pages[0]?.provider;
  if (!provider) throw new SignInFailure('invalid');
  const { subject, sid, use } = await provider.readLogoutToken(token);
  const stores = { console: ofConsole !== undefined, pages: pages.map(({ caller }) => caller) };
  const isFirstUse = await signOuts.end(use, { issuer, subject, sid }, stores).catch(noDatabase);
  if (!isFirstUse) throw new SignInFailure('invalid');
}

function isRegistered(provider: OpenIdProvider | undefined, issuer: string, clientIds: string[]): boolean {
  const { registration } = provider ?? {};
  return registration?.issuer === issuer && clientIds.includes(registration.clientId);
}

/** Serves the routes of sign-ins and sign-outs. */
export async function serveSignIns(app: INestApplication, server: FastifyInstance): Promise<void> {
  const sessions = app.get(SessionsService);
  const pageSessions = app.get(PageSessionsService);
  const persons = app.get(PersonsService);
  const consoleProvider = app.get(ConsoleProviderService, { strict: false });
  const pageProviders = app.get(PageProvidersService, { strict: false });
  serveConsoleSignIn(server, { sessions, provider: consoleProvider });
  serveSignOut(server, { consoleProvider, pageProviders });
  servePageSignIn(server, { pageSessions, pageProviders, persons });
  await serveBackchannelLogout(server, {
    signOuts: app.get(ProviderSignOutsService),
    consoleProvider,
    pageProviders,
  });
}
