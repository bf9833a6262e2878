import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { http } from '../../../api/client';
import { ReasonDialog } from '../../../components/forms/reason-dialog';
import { formatCount } from '../../../components/values/format';
import { reloadClients } from '../reload-clients';

/** Shows the number of valid ephemeral keys of a client, with an action to revoke all. */
export function EphemeralKeys({ client, active }: { client: string; active: number }) {
  const [revoking, setRevoking] = useState(false);
  return (
    <Group gap="sm">
      <Text size="sm">
        {active === 0 ? (
          'There are no valid ephemeral keys.'
        ) : (
          <>Valid ephemeral keys: {formatCount(active)}</>
        )}
      </Text>
      {active > 0 && (
        <Button size="compact-xs" variant="default" onClick={() => setRevoking(true)}>
          Revoke all ephemeral keys
        </Button>
      )}
      {revoking && <RevokeAll client={client} active={active} close={() => setRevoking(false)} />}
    </Group>
  );
}

function RevokeAll({ client, active, close }: { client: string; active: number; close: () => void }) {
  const queries = useQueryClient();
  const run = async (reason: string) => {
    const params = { path: { name: client }, query: { reason } };
    const { data } = await http.DELETE('/v1/clients/{name}/ephemeral-keys', { params });
    reloadClients(queries);
    const count = data?.revoked.length ?? 0;
    notifications.show({ message: `${countInWords(count)} revoked.`, color: 'teal' });
  };
  return (
    <ReasonDialog title="Revoke all ephemeral keys" action="Revoke all" danger run={run} close={close}>
      <Text size="sm">
        {countInWords(active)} of <b>{client}</b>, and those created until you confirm, are rejected from the
        next request, on every instance. Calls that are being sent are completed. Pending requests made with
        them can no longer be approved.
      </Text>
      <Text size="sm">
        The client can create new ones immediately. To prevent that, revoke the keys that create them, or stop
        the client.
      </Text>
    </ReasonDialog>
  );
}

const countInWords = (count: number) => `${formatCount(count)} ephemeral ${count === 1 ? 'key' : 'keys'}`;
