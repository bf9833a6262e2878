import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { freshness, type Freshness } from './freshness';
import { isOutage } from './problem';

/** Returns the stale data on the page, if the proxy or its database is unreachable. */
export const useStaleData = () => useSyncExternalStore(freshness.subscribe, freshness.read);

/** Tracks the freshness of all queries. When one succeeds again, the failed ones are repeated. */
export function watchQueries(queries: QueryClient, of: Freshness = freshness): void {
  const cache = queries.getQueryCache();
  cache.subscribe((event) => {
    const { query } = event;
    const source = query.queryHash;
    if (event.type === 'removed' || (event.type === 'observerRemoved' && query.getObserversCount() === 0)) {
      of.markFresh(source);
    } else if (event.type === 'updated') {
      const { action } = event;
      if (action.type === 'success') {
        const wasOut = of.read() !== undefined;
        of.markFresh(source);
        if (wasOut)
          void queries.refetchQueries({ type: 'active', predicate: ({ state }) => isOutage(state.error) });
      } else if (action.type === 'failed' || action.type === 'error') {
        if (isOutage(action.error)) of.markStale(source, query.state.dataUpdatedAt || undefined);
        else of.markFresh(source);
      }
    }
  });
}
