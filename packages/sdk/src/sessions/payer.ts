import { PayoutProxyError } from '../errors.ts';
import { fromBase64, textOf } from '../proofs/bytes.ts';

const ANOTHER_PERSON =
  'This is the payment of another person, or of a credential that does not tell its person. Nothing was ' +
  'sent, because ' +
  'for another person it would be another payment. Continue it with a credential of the person who pays.';

/**
 * The holder of every API key. A key does not tell its person, so your server must pass keys of one person.
 */
const KEY_HOLDER = 'key';

/**
 * The holder of a payment. An idempotency key belongs to a person, so for another person it would be another
 * payment.
 */
export class Payer {
  /** @param holder Undefined until the first attempt, which determines it. */
  constructor(private holder: string | undefined) {}

  /**
   * Requires that all attempts have the same holder.
   * @throws PayoutProxyError
   */
  requireSame(holder: string | undefined): void {
    this.holder ??= holder;
    if (holder !== this.holder) throw new PayoutProxyError(ANOTHER_PERSON);
  }
}

/**
 * Returns the holder of the credential of a request. A token that cannot be read is held by nobody else: two
 * such tokens may be of two people. Never store it, because it may be the token itself.
 */
export function holderOf(headers: Headers): string {
  const authorization = headers.get('Authorization');
  return authorization === null ? KEY_HOLDER : (personOfToken(authorization) ?? authorization);
}

/** Returns the person of an access token. Undefined for anything else. */
export function personOfToken(authorization: string | null): string | undefined {
  const [, claims = ''] = /^(?:Bearer|DPoP) +[\w-]+\.([\w-]+)\./i.exec(authorization ?? '') ?? [];
  const base64 = claims.replace(/-/g, '+').replace(/_/g, '/');
  const bytes = fromBase64(base64.padEnd(Math.ceil(base64.length / 4) * 4, '='));
  try {
    const { iss, sub } = JSON.parse(textOf(bytes ?? new Uint8Array())) as Record<string, unknown>;
    return typeof iss === 'string' && typeof sub === 'string' ? JSON.stringify([iss, sub]) : undefined;
  } catch {
    return undefined;
  }
}
