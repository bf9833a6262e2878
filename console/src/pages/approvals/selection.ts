import { useCallback, useEffect, useRef } from 'react';
import { useSearchParams } from 'wouter';
import { api } from '../../api/client';
import type { ApprovalRecord } from '../../api/generated/schema';

interface Selection {
  id: string | undefined;
  /** Undefined if none is selected, or while it is loading. */
  chosen: ApprovalRecord | undefined;
  /** Failure to load the approval in the URL. */
  error: unknown;
  choose: (id: string) => void;
}

const NAME = 'chosen';

/** Selects the approval beside the list, in the URL. It remains selected when it leaves the list. */
export function useSelection(approvals: ApprovalRecord[] | undefined): Selection {
  const [params, setParams] = useSearchParams();
  const id = params.get(NAME) ?? undefined;
  const listed = approvals?.find((one) => one.id === id);
  const isElsewhere = id !== undefined && approvals !== undefined && listed === undefined;
  const other = api.useQuery(
    'get',
    '/v1/approvals/{call_id}',
    { params: { path: { call_id: id ?? '' } } },
    { enabled: isElsewhere },
  );
  const choose = useCallback(
    (next: string) =>
      setParams(
        (before) => {
          const to = new URLSearchParams(before);
          to.set(NAME, next);
          return to;
        },
        { replace: true, state: history.state as unknown }, // Keeps the paging state.
      ),
    [setParams],
  );
  // Once shown, the first approval stays selected, so that a newer one cannot take a key press.
  const first = approvals?.[0]?.id;
  const pageToken = params.get('page_token');
  const page = useRef(pageToken);
  useEffect(() => {
    if (first === undefined || (id !== undefined && page.current === pageToken)) return;
    page.current = pageToken;
    choose(first);
  }, [id, first, choose, pageToken]);
  const chosen = listed ?? (isElsewhere ? other.data : undefined);
  return { id, chosen, error: isElsewhere && !chosen ? other.error : null, choose };
}
