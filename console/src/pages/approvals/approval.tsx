import { Anchor, Group } from '@mantine/core';
import { Link, useParams } from 'wouter';
import { api } from '../../api/client';
import { Page } from '../../components/page/page';
import { Answer } from '../../components/page/states';
import { ApprovalDetail } from './approval-detail';
import { useDecision } from './decision';
import { ShortcutsHelp, useShortcuts } from './shortcuts';

/** Each read is recorded, so the page does not refetch. A concurrent decision is reported when you decide. */
const REFETCH_MS = 30_000;

/** Shows one approval on its own page. */
export default function ApprovalPage() {
  const { id = '' } = useParams();
  const approval = api.useQuery(
    'get',
    '/v1/approvals/{call_id}',
    { params: { path: { call_id: id } } },
    { refetchInterval: ({ state }) => (state.data?.approval?.status === 'pending' ? REFETCH_MS : false) },
  );
  const decision = useDecision(approval.data);
  const keys = [
    { key: 'a', description: 'Approve, after you enter a reason', act: () => decision.ask('approve') },
    { key: 'r', description: 'Reject, after you enter a reason', act: () => decision.ask('reject') },
  ];
  useShortcuts(keys);
  return (
    <Page title="Approval" actions={<ShortcutsHelp keys={keys} />}>
      <Group>
        <Anchor component={Link} href="/approvals" size="sm">
          All pending approvals
        </Anchor>
      </Group>
      <Answer of={approval} lines={8}>
        {(data) => <ApprovalDetail of={data} decision={decision} />}
      </Answer>
      {decision.dialog}
    </Page>
  );
}
