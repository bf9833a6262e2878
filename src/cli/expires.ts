import { ClientError } from '../access/clients/client-error';
import { usualExpiry } from '../access/clients/safe-defaults';
import { clock } from '../platform/database/clock';

export const EXPIRES_OPTION = [
  '--expires <instant>',
  'expiry of the key in ISO 8601, such as 2027-01-01T00:00:00Z, or never (default: in a year)',
] as const;

/**
 * Returns when a new key expires, by the database's clock. Undefined is never.
 * @throws ClientError if the option is not a future time.
 */
export function chosenExpiry(text: string | undefined): Date | undefined {
  if (text === 'never') return undefined;
  if (text === undefined) return usualExpiry();
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime()) || instant <= clock.now()) {
    throw new ClientError('--expires must be a future time in ISO 8601, such as 2027-01-01T00:00:00Z, or never.');
  }
  return instant;
}

/** Returns the expiry to ask the proxy for. Null is never, and undefined leaves the choice to the proxy. */
export function askedExpiry(text: string | undefined): string | null | undefined {
  return text === 'never' ? null : text;
}
