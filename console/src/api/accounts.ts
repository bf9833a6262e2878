import { api } from './client';
import type { AccountDto } from './generated/schema';

/** Returns the upstream accounts, or an empty list until they are loaded. */
export function useAccounts(): AccountDto[] {
  return api.useQuery('get', '/v1/accounts', undefined, { staleTime: 60_000 }).data?.accounts ?? [];
}
