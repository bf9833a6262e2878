import { usualExpiry } from '../../access/clients/limits/safe-defaults';
import { clock } from '../../platform/database/clock';
import { Problem } from '../../platform/errors/problem';

/**
 * Returns the expiry of a new key. Null requests a key without expiry, which is undefined here.
 * @throws Problem for a time in the past.
 */
export function expiryOf(expiresAt: string | null | undefined): Date | undefined {
  if (expiresAt === null) return undefined;
  if (expiresAt === undefined) return usualExpiry();
  const expiry = new Date(expiresAt);
  if (expiry > clock.now()) return expiry;
  throw new Problem('invalid_request', {
    faults: [{ pointer: '/expires_at', detail: 'must be in the future' }],
  });
}
