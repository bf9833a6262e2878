import { Fault } from '../../../platform/errors/problem';

/**
 * Returns what is wrong with the upstream account that a request names.
 * @param accounts the accounts of this instance.
 */
export function accountFaults(account: string, accounts: readonly string[]): Fault[] {
  if (accounts.includes(account)) return [];
  return [{ pointer: '/account', detail: `must be an upstream account: ${accounts.join(', ')}` }];
}
