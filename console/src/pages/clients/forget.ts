import type { QueryClient } from '@tanstack/react-query';

/** Reloads all data about clients, their keys, their registers and their accounts. */
export function forgetClients(queries: QueryClient): void {
  for (const path of [
    '/v1/accounts',
    '/v1/clients',
    '/v1/clients/{name}',
    '/v1/clients/{name}/keys',
    '/v1/clients/{name}/beneficiaries',
  ]) {
    void queries.invalidateQueries({ queryKey: ['get', path] });
  }
}
