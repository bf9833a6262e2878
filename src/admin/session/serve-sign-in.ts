import { Logger } from '@nestjs/common';
import { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sessionCookie, sessionTokenIn } from '../../access/auth/session-cookie';
import { hashOf, SessionsService } from '../../access/auth/sessions.service';
import { isAllowedFrom } from '../../access/auth/where-from';
import { Identified, OpenIdProviderService } from '../../access/sign-in/openid-provider.service';
import { safeReturnTo } from '../../access/sign-in/return-to';
import { asSignInFailure, SignInFailure } from '../../access/sign-in/sign-in-failure';
import {
  newTransaction,
  noTransactionCookie,
  Transaction,
  transactionCookie,
  transactionIn,
} from '../../access/sign-in/transaction';
import { CALLBACK_PATH } from '../../platform/config/sign-in-config';
import { sendPage, SignInPage } from './sign-in-page';
import { failurePage, NO_DATABASE, NOT_BEGUN, signedInPage, unknownPage, WRONG_ADDRESS } from './sign-in-pages';

interface SignInServices {
  sessions: SessionsService;
  provider: OpenIdProviderService;
}

interface Asked {
  Querystring: { return_to?: string | string[]; step_up?: string | string[] };
}

/** The most characters of a logout token. */
const MAX_LOGOUT_BYTES = 16_384;

const logger = new Logger('Sessions');

/** Serves what browsers, and the OpenID provider, request to sign people in and out. Browsers get pages, also for errors. */
export async function serveSignIn(server: FastifyInstance, services: SignInServices): Promise<void> {
  server.get<Asked>('/session/sign-in', (request, reply) => begin(request, reply, services));
  server.get(CALLBACK_PATH, (request, reply) => complete(request, reply, services));
  await server.register((scope, _options, done) => {
    const form = 'application/x-www-form-urlencoded';
    scope.addContentTypeParser(form, { parseAs: 'string', bodyLimit: MAX_LOGOUT_BYTES }, (_request, body, parsed) =>
      parsed(null, new URLSearchParams(String(body)).get('logout_token') ?? ''),
    );
    scope.post('/session/backchannel-logout', (request, reply) => endAtProvider(request, reply, services));
    done();
  });
}

async function begin(
  request: FastifyRequest<Asked>,
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
  try {
    const address = await provider.authorizationUrl(transaction, redirectUriOf(request, provider));
    return reply
      .header('set-cookie', transactionCookie(request, transaction))
      .header('referrer-policy', 'no-referrer')
      .redirect(address, 302);
  } catch (failure) {
    return sendPage(reply, refused(failure));
  }
}

async function complete(request: FastifyRequest, reply: FastifyReply, services: SignInServices): Promise<FastifyReply> {
  const { provider } = services;
  const transaction = transactionIn(request);
  if (transaction === undefined) return sendPage(reply, NOT_BEGUN);
  void reply.header('set-cookie', noTransactionCookie(request)); // it completes once, whatever comes of it
  const callback = new URL(redirectUriOf(request, provider));
  callback.search = request.url.split('?').slice(1).join('?');
  try {
    const identified = await provider.complete(callback, transaction);
    return await signIn(request, reply, services, { identified, transaction });
  } catch (failure) {
    return sendPage(reply, refused(failure));
  }
}

async function signIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { sessions }: SignInServices,
  { identified, transaction }: { identified: Identified; transaction: Transaction },
): Promise<FastifyReply> {
  try {
    const caller = await sessions.findSignIn(identified);
    if (caller === undefined) return sendPage(reply, unknown(identified));
    if (!isAllowedFrom(caller, request.call.clientAddress)) return sendPage(reply, WRONG_ADDRESS);
    if (transaction.replaces !== undefined) await sessions.replace(transaction.replaces);
    const token = await sessions.begin(caller.keyId, identified);
    logger.log({ client: caller.clientName, key_id: caller.keyId }, 'signed in at the provider');
    void reply.header('set-cookie', sessionCookie(request, token));
    return sendPage(reply, signedInPage(transaction.returnTo));
  } catch (err) {
    logger.warn({ err }, 'sign-in not completed');
    return sendPage(reply, NO_DATABASE);
  }
}

/** The provider posts a token when it has ended a session, or all of a person (OpenID Connect Back-Channel Logout 1.0). */
async function endAtProvider(
  request: FastifyRequest,
  reply: FastifyReply,
  { sessions, provider }: SignInServices,
): Promise<FastifyReply> {
  try {
    const { issuer, subject, sid } = await provider.loggedOut(typeof request.body === 'string' ? request.body : '');
    await sessions.endAtProvider(issuer, subject, sid);
    return await reply.status(200).send();
  } catch (failure) {
    const { kind } = asSignInFailure(failure);
    logger.warn({ reason: kind }, 'logout token refused');
    return reply.status(kind === 'unreachable' ? 503 : 400).send({ error: 'invalid_request' });
  }
}

function redirectUriOf({ protocol, host }: FastifyRequest, { redirectUri }: OpenIdProviderService): string {
  return redirectUri ?? `${protocol}://${host}${CALLBACK_PATH}`;
}

function refused(failure: unknown): SignInPage {
  const known: SignInFailure = asSignInFailure(failure);
  const { kind, error, cause } = known;
  logger.warn(
    { reason: kind, ...(error !== undefined && { error }), ...(kind !== 'refused' && { err: cause }) },
    'sign-in refused',
  );
  return failurePage(known);
}

function unknown(identity: Identified): SignInPage {
  logger.warn({ reason: 'unknown_person' }, 'sign-in refused');
  return unknownPage(identity);
}
