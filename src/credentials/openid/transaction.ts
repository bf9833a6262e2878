import { FastifyRequest } from 'fastify';
import { createHmac, randomBytes } from 'node:crypto';
import { cookieIn, endCookie, setCookie } from '../../access/sessions/cookies';

/** A sign-in at the provider that has begun, as the browser keeps it in a cookie. */
export interface Transaction {
  /** `state`, `nonce` and the PKCE verifier are derived from it, so nothing is stored. */
  secret: string;
  /** The page to show after it. */
  returnTo: string;
  /** The hash of the session that it replaces. */
  replaces?: string;
  /** Whether it must be recent and strong enough to approve and administer. */
  isStepUp: boolean;
}

/** How long somebody may take to sign in. */
const LONGEST_SECONDS = 600;

const SECRET_BYTES = 32;

/**
 * The provider's redirect comes from another site, so the cookie is not Strict. Sign-ins to the pages of several clients may be
 * under way in one browser.
 */
function cookieOf(client: string | undefined) {
  const name = client === undefined ? 'payout_proxy_sign_in' : `payout_proxy_sign_in_${client}`;
  return { name, sameSite: 'lax' } as const;
}

export function newTransaction(options: Omit<Transaction, 'secret'>): Transaction {
  return { secret: randomBytes(SECRET_BYTES).toString('base64url'), ...options };
}

/** Returns what the provider returns unchanged. It proves that this browser has begun the sign-in. */
export const stateOf = (transaction: Transaction) => derived(transaction, 'state');

/** Returns what the ID token must contain. It proves that the token was made for this sign-in. */
export const nonceOf = (transaction: Transaction) => derived(transaction, 'nonce');

/** Returns the secret without which a stolen code is useless (RFC 7636). */
export const verifierOf = (transaction: Transaction) => derived(transaction, 'code_verifier');

/**
 * Returns the `Set-Cookie` header.
 * @param client the client to whose pages somebody signs in. Undefined for the console.
 */
export function transactionCookie(request: FastifyRequest, transaction: Transaction, client?: string): string {
  const value = Buffer.from(JSON.stringify(transaction)).toString('base64url');
  return setCookie(request, { ...cookieOf(client), value, maxAgeSeconds: LONGEST_SECONDS });
}

export function noTransactionCookie(request: FastifyRequest, client?: string): string {
  return endCookie(request, cookieOf(client));
}

/** Returns the sign-in that this browser has begun. Undefined if there is none. */
export function transactionIn(request: FastifyRequest, client?: string): Transaction | undefined {
  const value = cookieIn(request, cookieOf(client).name);
  if (value === undefined) return undefined;
  try {
    const read = JSON.parse(Buffer.from(value, 'base64url').toString('utf8')) as Partial<Transaction> | null;
    const { secret, returnTo, replaces, isStepUp } = read ?? {};
    if (typeof secret !== 'string' || secret.length < SECRET_BYTES || typeof returnTo !== 'string') return undefined;
    const replaced = typeof replaces === 'string' && /^[0-9a-f]{64}$/.test(replaces) ? { replaces } : {};
    return { secret, returnTo, ...replaced, isStepUp: isStepUp === true };
  } catch {
    return undefined; // not ours
  }
}

function derived({ secret }: Transaction, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('base64url');
}
