import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { http } from '../../../api/client';
import type { BeneficiaryDto } from '../../../api/generated/schema';
import { ReasonDialog } from '../../../components/forms/reason-dialog';
import { forgetClients } from '../forget';
import { isWaiting } from '../waiting';

interface Props {
  client: string;
  of: BeneficiaryDto;
  /** The recipient in words. */
  who: string;
  close: () => void;
}

/** Names the recipient, the list, and the effect of the removal. */
export function RemoveBeneficiary({ client, of: { id, list }, who, close }: Props) {
  const queries = useQueryClient();
  const run = async (reason: string) => {
    const body = { list, remove: [id], reason };
    const { data } = await http.POST('/v1/clients/{name}/beneficiaries', {
      params: { path: { name: client } },
      body,
    });
    forgetClients(queries);
    if (data && !isWaiting(data))
      notifications.show({ message: `${who} is no longer ${list}.`, color: 'teal' });
  };
  return (
    <ReasonDialog title="Remove a recipient" action="Remove" run={run} close={close}>
      <Text size="sm">
        {list === 'allowed'
          ? `${who} is no longer allowed for ${client}. If the client pays only registered recipients, it can no longer pay them.`
          : `${who} is no longer blocked for ${client}. The client may then pay them.`}
      </Text>
    </ReasonDialog>
  );
}
