import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { freshness, type Freshness } from './freshness';
import { isOutage } from './problem';

/** Whether this page shows outdated data because the proxy or its database cannot be reached. */
export const useStaleData = () => useSyncExternalStore(freshness.subscribe, freshness.read);

/** Follows all queries. Once one of them succeeds again, those that failed are repeated. */
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
