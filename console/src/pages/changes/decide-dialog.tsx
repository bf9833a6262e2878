import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { http } from '../../api/client';
import type { ChangeRecord } from '../../api/generated/schema';
import { ReasonDialog } from '../../components/forms/reason-dialog';
import { SecretDialog } from '../../components/forms/secret-dialog';
import { ChangedFields } from '../../components/values/changed-fields';

export type Decision = 'approve' | 'reject';

interface Props {
  change: ChangeRecord;
  decision: Decision;
  close: () => void;
}

/** Asks for a reason and decides. The proxy checks the change against the current state. */
export function DecideDialog({ change, decision, close }: Props) {
  const queries = useQueryClient();
  const isApproval = decision === 'approve';
  const [code, setCode] = useState<string>();
  const run = async (reason: string) => {
    try {
      const request = { params: { path: { id: change.id } }, body: { reason } };
      if (!isApproval) await http.POST('/v1/changes/{id}/reject', request);
      else setCode((await http.POST('/v1/changes/{id}/approve', request)).data?.claim_code);
    } finally {
      // A rejected decision also shows that the list is stale.
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
          ? `It applies${change.client === null ? '' : ` to ${change.client}`} immediately, on every ` +
            'instance.'
          : 'The change is discarded.'}
      </Text>
    </ReasonDialog>
  );
}

/** Shows a claim code once, and only to the approver. */
function ClaimCodeDialog({ code, person, close }: { code: string; person: string; close: () => void }) {
  return (
    <SecretDialog
      title={`The claim code for the key of ${person}`}
      name="the claim code"
      secret={code}
      close={close}
    >
      {`Give it only to ${person}, who claims the key with keys claim. That key can never decide ` +
        `about your requests. If ${person} signs in here, the code is not needed.`}
    </SecretDialog>
  );
}
