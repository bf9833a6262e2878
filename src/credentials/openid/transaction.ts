import { createHmac, randomBytes } from 'node:crypto';
import { FastifyRequest } from 'fastify';
import { cookieIn, endCookie, setCookie } from '../../access/sessions/cookies';

/** A pending sign-in at the provider, stored in a cookie of the browser. */
export interface Transaction {
  /** `state`, `nonce` and the PKCE verifier are derived from it, so nothing is stored. */
  secret: string;
  /** The page to show afterwards. */
  returnTo: string;
  /** The hash of the replaced session. */
  replaces?: string;
  /** Whether it must satisfy step-up. */
  isStepUp: boolean;
}

/** Maximum duration of a sign-in, in seconds. */
const LONGEST_SECONDS = 600;

const SECRET_BYTES = 32;

/**
 * Returns the cookie's name and attributes. It is not Strict, because the provider redirects from another
 * site. Each client has its own cookie, so sign-ins to several clients can run in one browser.
 */
function cookieOf(client: string | undefined) {
  const name = client === undefined ? 'payout_proxy_sign_in' : `payout_proxy_sign_in_${client}`;
  return { name, sameSite: 'lax' } as const;
}

export function newTransaction(options: Omit<Transaction, 'secret'>): Transaction {
  return { secret: randomBytes(SECRET_BYTES).toString('base64url'), ...options };
}

/** Returns `state`, which the provider returns unchanged. Proves that this browser began the sign-in. */
export const stateOf = (transaction: Transaction) => derived(transaction, 'state');

/** Returns `nonce`, which the ID token must contain. Proves that the token was issued for this sign-in. */
export const nonceOf = (transaction: Transaction) => derived(transaction, 'nonce');

/** Returns the PKCE verifier, without which a stolen code is useless (RFC 7636). */
export const verifierOf = (transaction: Transaction) => derived(transaction, 'code_verifier');

/**
 * Returns the `Set-Cookie` header.
 * @param client the client of a page sign-in. Undefined for the console.
 */
export function transactionCookie(
  request: FastifyRequest,
  transaction: Transaction,
  client?: string,
): string {
  const value = Buffer.from(JSON.stringify(transaction)).toString('base64url');
  return setCookie(request, { ...cookieOf(client), value, maxAgeSeconds: LONGEST_SECONDS });
}

export function noTransactionCookie(request: FastifyRequest, client?: string): string {
  return endCookie(request, cookieOf(client));
}

/** Returns the browser's pending sign-in. Undefined if none. */
export function transactionIn(request: FastifyRequest, client?: string): Transaction | undefined {
  const value = cookieIn(request, cookieOf(client).name);
  if (value === undefined) return undefined;
  try {
    const read = JSON.parse(Buffer.from(value, 'base64url').toString('utf8')) as Partial<Transaction> | null;
    const { secret, returnTo, replaces, isStepUp } = read ?? {};
    if (typeof secret !== 'string' || secret.length < SECRET_BYTES || typeof returnTo !== 'string')
      return undefined;
    const replaced = typeof replaces === 'string' && /^[0-9a-f]{64}$/.test(replaces) ? { replaces } : {};
    return { secret, returnTo, ...replaced, isStepUp: isStepUp === true };
  } catch {
    return undefined; // not ours
  }
}

function derived({ secret }: Transaction, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('base64url');
}
