import { usualExpiry } from '../../access/clients/limits/safe-defaults';
import { clock } from '../../platform/database/clock';
import { Problem } from '../../platform/errors/problem';

/** Returns the expiry of a new key. Undefined never expires, for null. @throws Problem for a past time. */
export function expiryOf(expiresAt: string | null | undefined): Date | undefined {
  if (expiresAt === null) return undefined;
  if (expiresAt === undefined) return usualExpiry();
  const expiry = new Date(expiresAt);
  if (expiry > clock.now()) return expiry;
  throw new Problem('invalid_request', {
    faults: [{ pointer: '/expires_at', detail: 'must be in the future' }],
  });
}
