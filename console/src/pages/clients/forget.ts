import type { QueryClient } from '@tanstack/react-query';

/** What is known of clients and their keys is asked for anew. */
export function forgetClients(queries: QueryClient): void {
  for (const path of ['/v1/clients', '/v1/clients/{name}', '/v1/clients/{name}/keys']) {
    void queries.invalidateQueries({ queryKey: ['get', path] });
  }
}
