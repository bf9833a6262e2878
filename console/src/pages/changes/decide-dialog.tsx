import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { http } from '../../api/client';
import type { ChangeRecord } from '../../api/generated/schema';
import { ChangedFields } from '../../components/changed-fields';
import { ReasonDialog } from '../../components/reason-dialog';

export type Decision = 'approve' | 'reject';

interface Props {
  change: ChangeRecord;
  decision: Decision;
  close: () => void;
}

/** Asks for a reason, and decides. The change is judged again by the state of now. */
export function DecideDialog({ change, decision, close }: Props) {
  const queries = useQueryClient();
  const isApproval = decision === 'approve';
  const run = async (reason: string) => {
    try {
      const params = { path: { id: change.id } };
      await (isApproval
        ? http.POST('/v1/changes/{id}/approve', { params, body: { reason } })
        : http.POST('/v1/changes/{id}/reject', { params, body: { reason } }));
    } finally {
      // A refused decision tells that the list is out of date, too.
      await queries.invalidateQueries({ queryKey: ['get', '/v1/changes'] });
    }
  };
  return (
    <ReasonDialog
      title={isApproval ? 'Approve this change' : 'Reject this change'}
      action={isApproval ? 'Approve' : 'Reject'}
      maxLength={1_000}
      decision={`${decision} ${change.id}`}
      run={run}
      close={close}
    >
      <ChangedFields of={change} />
      <Text size="sm">
        {isApproval ? `It applies to ${change.client} at once, on every instance.` : 'It is never made.'}
      </Text>
    </ReasonDialog>
  );
}
