import { PayoutProxyError } from './errors.ts';

const SOMEBODY_ELSE =
  'Another person has signed in. The payment was not sent for them, because it would be another payment. Continue it with a ' +
  'token of the same person.';

/** Whose payment it is. An idempotency key belongs to a person, so for another person it would be another payment. */
export class Payer {
  private person: string | undefined;

  /**
   * Requires that all attempts are the same person's, as far as access tokens tell.
   * @throws PayoutProxyError
   */
  requireSame(authorization: string | null): void {
    const person = personOf(authorization);
    if (person === undefined) return;
    this.person ??= person;
    if (person !== this.person) throw new PayoutProxyError(SOMEBODY_ELSE);
  }
}

/** Returns whose access token it is. Undefined for anything else. */
function personOf(authorization: string | null): string | undefined {
  const [, claims = ''] = /^(?:Bearer|DPoP) [\w-]+\.([\w-]+)\./i.exec(authorization ?? '') ?? [];
  try {
    const { iss, sub } = JSON.parse(atob(claims.replace(/-/g, '+').replace(/_/g, '/'))) as Record<string, unknown>;
    return JSON.stringify([iss, sub]);
  } catch {
    return undefined;
  }
}
