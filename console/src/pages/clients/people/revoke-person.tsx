import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { http } from '../../../api/client';
import type { PersonDto } from '../../../api/generated/schema';
import { ReasonDialog } from '../../../components/forms/reason-dialog';
import { forgetClients } from '../forget';
import { personWords } from './person-limits';

/** Names the person and the effect of the revocation. */
export function RevokePerson({ client, of, close }: { client: string; of: PersonDto; close: () => void }) {
  const queries = useQueryClient();
  const run = async (reason: string) => {
    const body = { person_id: of.id, reason };
    await http.POST('/v1/clients/{name}/persons/revoke', { params: { path: { name: client } }, body });
    forgetClients(queries);
    notifications.show({ message: 'Revoked. The person must sign in again.', color: 'teal' });
  };
  return (
    <ReasonDialog
      title="Revoke a person's credentials"
      action="Revoke credentials"
      danger
      run={run}
      close={close}
    >
      <Text size="sm">
        This ends all tokens, sessions and keys that <b>{personWords(of)}</b> has of <b>{client}</b>. They are
        rejected from the next request, on every instance. Calls that are being sent are completed. Pending
        requests made with them can no longer be approved.
      </Text>
      <Text size="sm">
        Credentials that are issued later are accepted. To keep the person out, block them at the identity
        provider, or set their daily cap to 0.
      </Text>
    </ReasonDialog>
  );
}
