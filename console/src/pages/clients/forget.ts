import type { QueryClient } from '@tanstack/react-query';

/** Reloads all data about clients and their keys. */
export function forgetClients(queries: QueryClient): void {
  for (const path of ['/v1/clients', '/v1/clients/{name}', '/v1/clients/{name}/keys']) {
    void queries.invalidateQueries({ queryKey: ['get', path] });
  }
}
