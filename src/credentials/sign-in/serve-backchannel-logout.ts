import { Logger } from '@nestjs/common';
import { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PageSessionsService } from '../../access/sessions/page-sessions.service';
import { SessionsService } from '../../access/sessions/sessions.service';
import { ConsoleProviderService } from '../openid/console-provider.service';
import { addresseeOf } from '../openid/logout-token';
import { OpenIdProvider } from '../openid/openid-provider';
import { PageProvidersService } from '../openid/page-providers.service';
import { asSignInFailure, SignInFailure } from '../openid/sign-in-failure';

interface LogoutServices {
  sessions: SessionsService;
  pageSessions: PageSessionsService;
  consoleProvider: ConsoleProviderService;
  pageProviders: PageProvidersService;
}

/** The most characters of a logout token. */
const MAX_LOGOUT_BYTES = 16_384;

const logger = new Logger('Sessions');

/** Serves the requests by which providers end sessions (OpenID Connect Back-Channel Logout 1.0). */
export async function serveBackchannelLogout(server: FastifyInstance, services: LogoutServices): Promise<void> {
  await server.register((scope, _options, done) => {
    const form = 'application/x-www-form-urlencoded';
    scope.addContentTypeParser(form, { parseAs: 'string', bodyLimit: MAX_LOGOUT_BYTES }, (_request, body, parsed) =>
      parsed(null, new URLSearchParams(String(body)).get('logout_token') ?? ''),
    );
    scope.post('/session/backchannel-logout', (request, reply) => logOut(request, reply, services));
    done();
  });
}

async function logOut({ body }: FastifyRequest, reply: FastifyReply, services: LogoutServices): Promise<FastifyReply> {
  try {
    await endSessions(typeof body === 'string' ? body : '', services);
    return await reply.status(200).send();
  } catch (failure) {
    const { kind } = asSignInFailure(failure);
    logger.warn({ call_id: reply.request.call.id, reason: kind }, 'logout token refused');
    return reply.status(kind === 'unreachable' ? 503 : 400).send({ error: 'invalid_request' });
  }
}

/** Ends a session of the provider, or all sessions of a person, in the console or on the pages of a client. */
async function endSessions(
  token: string,
  { sessions, pageSessions, consoleProvider, pageProviders }: LogoutServices,
): Promise<void> {
  const addressee = addresseeOf(token);
  const { issuer, clientIds } = addressee;
  const ofConsole = isOf(consoleProvider.configured, issuer, clientIds) ? consoleProvider.configured : undefined;
  const pages = await pageProviders.findByRegistration(addressee);
  const provider = ofConsole ?? pages[0]?.provider;
  if (!provider) throw new SignInFailure('invalid');
  const { subject, sid } = await provider.loggedOut(token);
  if (ofConsole) await sessions.endAtProvider(issuer, subject, sid);
  for (const { caller } of pages) await pageSessions.endAtProvider(caller, { issuer, subject, sid });
}

function isOf(provider: OpenIdProvider | undefined, issuer: string, clientIds: string[]): boolean {
  const { registration } = provider ?? {};
  return registration?.issuer === issuer && clientIds.includes(registration.clientId);
}
