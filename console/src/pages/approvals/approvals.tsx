import { Grid, Group, SegmentedControl } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { api } from '../../api/client';
import { approvalStatusValues as STATUSES } from '../../api/generated/schema';
import { useAddress } from '../../components/lists/address';
import { Pager } from '../../components/lists/pager';
import { Page } from '../../components/page/page';
import { Answer, Empty, Failure } from '../../components/page/states';
import { EMPTY_WORDS, STATUS_WORDS } from '../../words/approvals';
import { ApprovalDetail } from './approval-detail';
import { ApprovalList } from './approval-list';
import { useDecision } from './decision';
import { useListShortcuts } from './list-shortcuts';
import { useSelection } from './selection';
import { ShortcutsHelp } from './shortcuts';

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
