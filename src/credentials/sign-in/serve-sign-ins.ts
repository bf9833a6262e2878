import { INestApplication } from '@nestjs/common';
import { FastifyInstance } from 'fastify';
import { PersonsService } from '../../access/people/persons.service';
import { PageSessionsService } from '../../access/sessions/page-sessions.service';
import { ProviderSignOutsService } from '../../access/sessions/provider-sign-outs.service';
import { SessionsService } from '../../access/sessions/sessions.service';
import { ConsoleProviderService } from '../openid/console-provider.service';
import { PageProvidersService } from '../openid/page-providers.service';
import { serveBackchannelLogout } from './serve-backchannel-logout';
import { serveConsoleSignIn } from './serve-console-sign-in';
import { servePageSignIn } from './serve-page-sign-in';
import { serveSignOut } from './sign-out';

/** Serves what browsers, and OpenID providers, request to sign people in and out. */
export async function serveSignIns(app: INestApplication, server: FastifyInstance): Promise<void> {
  const sessions = app.get(SessionsService);
  const pageSessions = app.get(PageSessionsService);
  const persons = app.get(PersonsService);
  const consoleProvider = app.get(ConsoleProviderService, { strict: false });
  const pageProviders = app.get(PageProvidersService, { strict: false });
  serveConsoleSignIn(server, { sessions, provider: consoleProvider });
  serveSignOut(server, { consoleProvider, pageProviders });
  servePageSignIn(server, { pageSessions, pageProviders, persons });
  await serveBackchannelLogout(server, { signOuts: app.get(ProviderSignOutsService), consoleProvider, pageProviders });
}
