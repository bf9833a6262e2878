import { PayoutProxyError } from '../errors.ts';
import { fromBase64, textOf } from '../proofs/bytes.ts';

const ANOTHER_PERSON =
  'This is the payment of another person, or of a credential without a person. Nothing was sent. ' +
  'Continue it with a credential of its person.';

/** Holder of every API key. A key does not state its person, so an app must use keys of one person. */
const KEY_HOLDER = 'key';

/** The holder of a payment. For another person, the same idempotency key would be another payment. */
export class Payer {
  /** @param holder stored holder. If undefined, the first attempt determines it. */
  constructor(private holder: string | undefined) {}

  /**
   * Requires that all attempts have the same holder.
   * @throws PayoutProxyError for another holder.
   */
  requireSame(holder: string | undefined): void {
    this.holder ??= holder;
    if (holder !== this.holder) throw new PayoutProxyError(ANOTHER_PERSON);
  }
}

/**
 * Returns the holder of a request's credential. An unreadable token is its own holder, because two of them
 * may belong to two people. Never store the holder: it may be a token.
 */
export function holderOf(headers: Headers): string {
  const authorization = headers.get('Authorization');
  return authorization === null ? KEY_HOLDER : (personOfToken(authorization) ?? authorization);
}

/** Returns the person of a readable access token, or undefined. */
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
