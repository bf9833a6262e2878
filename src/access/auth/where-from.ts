import { within } from '../../platform/config/address-block';
import { Problem } from '../../platform/errors/problem';
import { Call } from './call';
import { Caller } from '../callers/caller';

/** Whether a caller may call from this address, so that a leaked key is useless elsewhere. */
export function isAllowedFrom({ limits }: Caller, address: string): boolean {
  return limits.addresses.length === 0 || within(limits.addresses)(address);
}

/** Returns why a caller may not call from where a call comes from. Undefined if it may. */
export function whereFromProblem(
  { clientAddress, origin, sessionToken }: Pick<Call, 'clientAddress' | 'origin' | 'sessionToken'>,
  caller: Caller,
): Problem | undefined {
  if (!isAllowedFrom(caller, clientAddress)) return new Problem('address_not_allowed');
  // Everybody who opens the page can read what it contains. A cookie is not in the page.
  const isSecretKey = caller.credential.kind === 'key' && sessionToken === undefined;
  if (origin !== undefined && isSecretKey) return new Problem('key_in_browser');
  // Only browsers send an origin. The list restricts neither apps on servers nor the proxy's own console.
  if (origin === undefined || caller.limits.origins.includes(origin)) return undefined;
  return new Problem('origin_not_allowed');
}
