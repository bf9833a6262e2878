import { api } from './client';
import type { AccountDto } from './generated/schema';

/** Returns the accounts at the upstream. Empty until they are known. */
export function useAccounts(): AccountDto[] {
  return api.useQuery('get', '/v1/accounts', undefined, { staleTime: 60_000 }).data?.accounts ?? [];
}
