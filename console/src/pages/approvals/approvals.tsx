import { Grid, Group, SegmentedControl } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useRef, useCallback } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { api } from '../../api/client';
import { approvalStatusValues as STATUSES, type ApprovalRecord } from '../../api/generated/schema';
import { useAddress } from '../../components/lists/address';
import { Pager } from '../../components/lists/pager';
import { Page } from '../../components/page/page';
import { Answer, Empty, Failure } from '../../components/page/states';
import { EMPTY_WORDS, STATUS_WORDS } from '../../words/approvals';
import { ApprovalDetail } from './approval-detail';
import { ApprovalList, rowId } from './approval-list';
import { useDecision } from './decision';
import { ShortcutsHelp, useShortcuts } from './shortcuts';

/** Each read is recorded, so the list is refetched no more often than people need. */
const REFETCH_MS = 15_000;
const PAGE_SIZE = 25;

/** Lists the calls that need approval by another person. */
export default function ApprovalsPage() {
  const { values, change, page: position } = useAddress(['status', 'chosen']);
  const status = STATUSES.find((one) => one === values.status) ?? 'pending';
  const query = { status, page_size: PAGE_SIZE, ...position };
  const page = api.useQuery('get', '/v1/approvals', { params: { query } }, { refetchInterval: REFETCH_MS });
  const approvals = page.data?.approvals;
  const isWide = useMediaQuery('(min-width: 75em)', false, { getInitialValueInEffect: false });
  const { chosen, id, error, choose } = useSelection(approvals);
  const decision = useDecision(chosen);
  const keys = useListShortcuts({ approvals, id, choose, ask: decision.ask });
  return (
    <Page
      title="Approvals"
      lead="Calls that are sent only after another person has approved them."
      actions={<ShortcutsHelp keys={keys} />}
    >
      <SegmentedControl
        aria-label="Status of approvals"
        size="xs"
        data={STATUSES.map((value) => ({ value, label: STATUS_WORDS[value] }))}
        value={status}
        onChange={(value) => change({ status: value === 'pending' ? undefined : value, chosen: undefined })}
        style={{ alignSelf: 'flex-start' }}
      />
      <Answer of={page} lines={8}>
        {({ approvals: rows, next_page_token: next }) => (
          <Grid gap="lg">
            <Grid.Col span={{ base: 12, lg: 4 }}>
              {rows.length === 0 ? (
                <Empty>{EMPTY_WORDS[status]}</Empty>
              ) : (
                <ApprovalList approvals={rows} chosen={id} choose={isWide ? choose : undefined} />
              )}
              <Group mt="sm" justify="flex-end">
                <Pager next={next} />
              </Group>
            </Grid.Col>
            {isWide && chosen && (
              <Grid.Col span={8} component="section" aria-label="Selected approval">
                <ApprovalDetail of={chosen} decision={decision} />
              </Grid.Col>
            )}
            {isWide && error !== null && (
              <Grid.Col span={8}>
                <Failure error={error} />
              </Grid.Col>
            )}
          </Grid>
        )}
      </Answer>
      {decision.dialog}
    </Page>
  );
}

interface List {
  approvals: ApprovalRecord[] | undefined;
  id: string | undefined;
  choose: (id: string) => void;
  ask: (decision: 'approve' | 'reject') => void;
}

/** Moves through the list and decides with single keys. */
function useListShortcuts({ approvals = [], id, choose, ask }: List) {
  const [, navigate] = useLocation();
  const at = approvals.findIndex((one) => one.id === id);
  const last = useRef(0);
  useEffect(() => {
    if (at >= 0) last.current = at;
  });
  const go = (step: 1 | -1) => {
    // A decided approval has left the list, and the next one took its position.
    const to = at >= 0 ? at + step : last.current - (step === 1 ? 0 : 1);
    const next = approvals[Math.max(0, Math.min(to, approvals.length - 1))];
    if (!next) return;
    choose(next.id);
    document.getElementById(rowId(next.id))?.focus();
  };
  const keys = [
    { key: 'j', description: 'Next approval (or arrow down)', act: () => go(1) },
    { key: 'ArrowDown', act: () => go(1) },
    { key: 'k', description: 'Previous approval (or arrow up)', act: () => go(-1) },
    { key: 'ArrowUp', act: () => go(-1) },
    {
      key: 'Enter',
      description: 'Open on its own page',
      act: () => id !== undefined && navigate(`/approvals/${id}`),
    },
    { key: 'a', description: 'Approve, after you enter a reason', act: () => ask('approve') },
    { key: 'r', description: 'Reject, after you enter a reason', act: () => ask('reject') },
  ];
  useShortcuts(keys);
  return keys;
}

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
function useSelection(approvals: ApprovalRecord[] | undefined): Selection {
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
