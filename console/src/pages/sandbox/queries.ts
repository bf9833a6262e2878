import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client';

/** Reloads the sandbox. */
export function useReload(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['get', '/v1/sandbox'] });
}

/** Sends samples, one at a time, and holds the last one with its response. */
export function useSampleRequest() {
  return api.useMutation('post', '/v1/sandbox/payouts', { onSettled: useReload() });
}

export type SampleRequest = ReturnType<typeof useSampleRequest>;
