import { within } from '../../platform/config/address-block';
import { Problem } from '../../platform/errors/problem';
import { Call, Caller } from './call';

/** Whether a caller may call from this address, so that a leaked key is useless elsewhere. */
export function isAllowedFrom({ limits }: Caller, address: string): boolean {
  return limits.addresses.length === 0 || within(limits.addresses)(address);
}

/** Returns why a caller may not call from where a call comes from. Undefined if it may. */
export function whereFromProblem(
  { clientAddress, origin }: Pick<Call, 'clientAddress' | 'origin'>,
  caller: Caller,
): Problem | undefined {
  if (!isAllowedFrom(caller, clientAddress)) return new Problem('address_not_allowed');
  // Only browsers send an origin. The list restricts neither apps on servers nor the proxy's own console.
  const { origins } = caller.limits;
  if (origin === undefined || origins.includes(origin)) return undefined;
  // Any page may hold a secret key of a client without a list. An ephemeral key is made for the pages of its client.
  if (origins.length === 0 && caller.credential.kind === 'key') return undefined;
  return new Problem('origin_not_allowed');
}
