import { within } from '../../platform/config/address-block';
import { Caller } from './call';

/** Whether a caller may call from this address, so that a leaked key is useless elsewhere. */
export function isAllowedFrom({ limits }: Caller, address: string): boolean {
  return limits.addresses.length === 0 || within(limits.addresses)(address);
}
