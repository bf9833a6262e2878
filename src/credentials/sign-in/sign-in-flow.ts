import { Logger } from '@nestjs/common';
import { FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../../access/auth/key-guessing';
import { CompletedSignIn, OpenIdProvider, Strength } from '../openid/openid-provider';
import { asSignInFailure, SignInFailure } from '../openid/sign-in-failure';
import { noTransactionCookie, Transaction, transactionCookie } from '../openid/transaction';
import { failurePage, NextSteps, sendPage } from './sign-in-pages';

/** The target of a sign-in: the console, or the pages of a client. */
export interface SignInTarget {
  provider: OpenIdProvider;
  redirectUri: string;
  /** The client of the pages. Undefined for the console. */
  client?: string;
  /** Required strength. Undefined allows any. */
  strength?: Strength | undefined;
}

const logger = new Logger('Sessions');

/** Redirects a browser to the provider. @throws SignInFailure */
export async function beginSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { provider, redirectUri, client, strength }: SignInTarget,
  transaction: Transaction,
): Promise<FastifyReply> {
  const address = await provider.authorizationUrl(transaction, redirectUri, strength);
  return reply
    .header('set-cookie', transactionCookie(request, transaction, client))
    .header('referrer-policy', 'no-referrer')
    .redirect(address, 302);
}

/** Maximum number of concurrent completions per network, so a flood leaves room for others. */
const MAX_OF_NETWORK = 8;

/** Number of sign-ins being completed, by network. */
const completing = new Map<string, number>();

/** Verifies the provider's callback. @throws SignInFailure */
export async function completeSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { provider, redirectUri, client, strength }: SignInTarget,
  transaction: Transaction,
): Promise<CompletedSignIn> {
  void reply.header('set-cookie', noTransactionCookie(request, client)); // single use, even after a failure
  const callback = new URL(redirectUri);
  callback.search = request.url.split('?').slice(1).join('?');
  const network = networkOf(request.call.clientAddress);
  const count = completing.get(network) ?? 0;
  if (count >= MAX_OF_NETWORK) throw new SignInFailure('unreachable');
  completing.set(network, count + 1);
  try {
    return await provider.complete(callback, transaction, strength);
  } finally {
    completing.set(network, (completing.get(network) ?? 1) - 1);
    if (completing.get(network) === 0) completing.delete(network);
  }
}

/** Handles a browser's request, and shows a page on failure. */
export async function withFailurePages(
  reply: FastifyReply,
  nextSteps: NextSteps,
  handle: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await handle();
  } catch (caught) {
    const failure = asSignInFailure(caught);
    const { kind, error, cause } = failure;
    const { id } = reply.request.call;
    logger.warn(
      {
        call_id: id,
        reason: kind,
        ...(error !== undefined && { error }),
        ...(kind !== 'refused' && { err: cause }),
      },
      'sign-in refused',
    );
    return sendPage(reply, failurePage(failure, nextSteps));
  }
}

/** @throws SignInFailure for a failed statement. */
export function noDatabase(error: unknown): never {
  throw new SignInFailure('no_database', undefined, error);
}
