import { useEffect } from 'react';
import { api, revealing } from '../../api/client';
import type { CallTimeline } from '../../api/generated/schema';

/** Polling of a call whose records are not sealed yet. */
const SEALED_WITHIN = { everyMs: 2_000, times: 5 };

/** Each request is recorded as a read, so focusing the window sends none. */
const ONCE = { staleTime: Infinity, refetchOnWindowFocus: false, refetchOnReconnect: false } as const;

/**
 * Reads a call's timeline, masked at first.
 * @param revealed whether to unmask people. Unmasked data is requested each time, and discarded with the
 * page.
 */
export function useTimeline(id: string, revealed: boolean) {
  const params = { path: { id } };
  const masked = api.useQuery(
    'get',
    '/v1/audit/calls/{id}',
    { params },
    {
      ...ONCE,
      staleTime: 0,
      refetchInterval: ({ state: { data, dataUpdateCount } }) =>
        data && isUnsealed(data) && dataUpdateCount <= SEALED_WITHIN.times ? SEALED_WITHIN.everyMs : false,
    },
  );
  const open = api.useQuery(
    'get',
    '/v1/audit/calls/{id}',
    { params, headers: revealing(true) },
    { ...ONCE, gcTime: 0, enabled: revealed },
  );
  const { refetch } = masked;
  const shownAt = open.dataUpdatedAt;
  useEffect(() => {
    if (shownAt > 0) void refetch(); // The list of readers now includes this read.
  }, [shownAt, refetch]);

  const isRevealed = revealed && open.data !== undefined;
  return {
    timeline: isRevealed ? open.data : masked.data,
    readers: masked.data?.accesses,
    isRevealed,
    isRevealing: revealed && open.isFetching,
    error: (revealed ? open.error : null) ?? masked.error,
    retry: () => (revealed && open.error ? open.refetch() : masked.refetch()),
  };
}

const isUnsealed = ({ seals }: CallTimeline) => seals.some(({ index }) => index === null);
