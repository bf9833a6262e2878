import { Logger } from '@nestjs/common';
import { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isAllowedFrom } from '../../access/auth/authenticate';
import { sessionCookie, sessionTokenIn } from '../../access/sessions/cookies';
import { hashOf } from '../../access/sessions/session-life';
import { SessionsService } from '../../access/sessions/sessions.service';
import { CompletedSignIn } from '../openid/openid-provider';
import { ConsoleProviderService } from '../openid/page-providers.service';
import { newTransaction, Transaction, transactionIn } from '../openid/transaction';
import { safeReturnTo } from './return-to';
import { beginSignIn, completeSignIn, noDatabase, withFailurePages, SignInTarget } from './sign-in-flow';
import {
  CONSOLE_STEPS,
  notBegunPage,
  signedInPage,
  unknownPage,
  wrongAddressPage,
  sendPage,
  SignInPage,
} from './sign-in-pages';

interface SignInServices {
  sessions: SessionsService;
  provider: ConsoleProviderService;
}

interface SignInRequest {
  Querystring: { return_to?: string | string[]; step_up?: string | string[] };
}

/** The path of the redirect URI. */
const CALLBACK_PATH = '/session/callback';

const logger = new Logger('Sessions');

/** Serves the browser's routes of console sign-ins. Answers with pages, including for errors. */
export function serveConsoleSignIn(server: FastifyInstance, services: SignInServices): void {
  server.get<SignInRequest>('/session/sign-in', (request, reply) =>
    withFailurePages(reply, CONSOLE_STEPS, () => begin(request, reply, services)),
  );
  server.get(CALLBACK_PATH, (request, reply) =>
    withFailurePages(reply, CONSOLE_STEPS, () => complete(request, reply, services)),
  );
}

async function begin(
  request: FastifyRequest<SignInRequest>,
  reply: FastifyReply,
  { provider }: SignInServices,
): Promise<FastifyReply> {
  const { return_to: returnTo, step_up: stepUp } = request.query;
  const current = sessionTokenIn(request);
  const transaction = newTransaction({
    returnTo: safeReturnTo(typeof returnTo === 'string' ? returnTo : undefined),
    isStepUp: stepUp === '1',
    ...(current !== undefined && { replaces: hashOf(current) }),
  });
  return beginSignIn(request, reply, targetFor(request, provider, transaction), transaction);
}

async function complete(
  request: FastifyRequest,
  reply: FastifyReply,
  services: SignInServices,
): Promise<FastifyReply> {
  const transaction = transactionIn(request);
  if (transaction === undefined) return sendPage(reply, notBegunPage(CONSOLE_STEPS));
  const target = targetFor(request, services.provider, transaction);
  const completed = await completeSignIn(request, reply, target, transaction);
  return signIn(request, reply, services.sessions, { completed, transaction });
}

async function signIn(
  request: FastifyRequest,
  reply: FastifyReply,
  sessions: SessionsService,
  { completed, transaction }: { completed: CompletedSignIn; transaction: Transaction },
): Promise<FastifyReply> {
  const caller = await sessions.findSignIn(completed).catch(noDatabase);
  if (caller === undefined) return sendPage(reply, unknownPerson(request.call.id, completed));
  if (!isAllowedFrom(caller, request.call.clientAddress))
    return sendPage(reply, wrongAddressPage(CONSOLE_STEPS));
  if (transaction.replaces !== undefined) await sessions.replace(transaction.replaces).catch(noDatabase);
  const token = await sessions.begin(caller.keyId, completed).catch(noDatabase);
  logger.log(
    { call_id: request.call.id, client: caller.clientName, key_id: caller.keyId },
    'signed in at the provider',
  );
  void reply.header('set-cookie', sessionCookie(request, token));
  return sendPage(reply, signedInPage(safeReturnTo(transaction.returnTo))); // the cookie is untrusted
}

function targetFor(
  { call }: FastifyRequest,
  provider: ConsoleProviderService,
  { isStepUp }: Transaction,
): SignInTarget {
  return {
    provider: provider.get(),
    redirectUri: `${call.ownOrigin}${CALLBACK_PATH}`,
    strength: isStepUp ? provider.stepUp : undefined,
  };
}

function unknownPerson(callId: string, identity: CompletedSignIn): SignInPage {
  logger.warn({ call_id: callId, reason: 'unknown_person' }, 'sign-in refused');
  return unknownPage(identity);
}
