import { Text } from '@mantine/core';
import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { http } from '../../api/client';
import type { ChangeRecord } from '../../api/generated/schema';
import { ChangedFields } from '../../components/values/changed-fields';
import { ReasonDialog } from '../../components/forms/reason-dialog';
import { SecretDialog } from '../../components/forms/secret-dialog';

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
  const [code, setCode] = useState<string>();
  const run = async (reason: string) => {
    try {
      const asked = { params: { path: { id: change.id } }, body: { reason } };
      if (!isApproval) await http.POST('/v1/changes/{id}/reject', asked);
      else setCode((await http.POST('/v1/changes/{id}/approve', asked)).data?.claim_code);
    } finally {
      // A refused decision tells that the list is out of date, too.
      await queries.invalidateQueries({ queryKey: ['get', '/v1/changes'] });
    }
  };
  if (code !== undefined)
    return <ClaimCodeDialog code={code} person={String(change.after.person)} close={close} />;
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
        {isApproval
          ? `It applies${change.client === null ? '' : ` to ${change.client}`} at once, on every instance.`
          : 'It is never made.'}
      </Text>
    </ReasonDialog>
  );
}

/** Shows a claim code once. Nobody else is ever shown it. */
function ClaimCodeDialog({ code, person, close }: { code: string; person: string; close: () => void }) {
  return (
    <SecretDialog
      title={`The claim code for the key of ${person}`}
      name="the claim code"
      secret={code}
      close={close}
    >
      {`Give it to ${person} alone, who claims the key with it: keys claim. The key then never decides about what you request. If ${person} signs in here, the code is not needed.`}
    </SecretDialog>
  );
}
