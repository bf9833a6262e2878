import type { QueryClient } from '@tanstack/react-query';

/** Reloads all data about clients, their keys, registers, people and accounts. */
export function reloadClients(queries: QueryClient): void {
  for (const path of [
    '/v1/accounts',
    '/v1/clients',
    '/v1/clients/{name}',
    '/v1/clients/{name}/keys',
    '/v1/clients/{name}/beneficiaries',
    '/v1/clients/{name}/persons',
    '/v1/clients/{name}/persons/{id}',
  ]) {
    void queries.invalidateQueries({ queryKey: ['get', path] });
  }
}
