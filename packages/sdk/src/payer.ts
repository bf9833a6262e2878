import { PayoutProxyError } from './errors.ts';

const SOMEBODY_ELSE =
  'This is the payment of another person. Nothing was sent, because for this person it would be another payment. Continue ' +
  'it with a credential of the person whose payment it is.';

/** Whose payment it is. An idempotency key belongs to a person, so for another person it would be another payment. */
export class Payer {
  /** @param person Undefined: whoever sends it first. */
  constructor(private person: string | undefined) {}

  /**
   * Requires that all attempts are the same person's.
   * @param person Undefined if the credential does not tell.
   * @throws PayoutProxyError
   */
  requireSame(person: string | undefined): void {
    this.person ??= person;
    if (person !== this.person) throw new PayoutProxyError(SOMEBODY_ELSE);
  }
}

/** Returns whose access token it is. Undefined for anything else. */
export function personOfToken(authorization: string | null): string | undefined {
  const [, claims = ''] = /^(?:Bearer|DPoP) [\w-]+\.([\w-]+)\./i.exec(authorization ?? '') ?? [];
  try {
    const { iss, sub } = JSON.parse(atob(claims.replace(/-/g, '+').replace(/_/g, '/'))) as Record<string, unknown>;
    return JSON.stringify([iss, sub]);
  } catch {
    return undefined;
  }
}
