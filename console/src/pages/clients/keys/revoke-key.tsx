import { Code, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { http } from '../../../api/client';
import type { KeyDto } from '../../../api/generated/schema';
import { useSession } from '../../../api/session';
import { ConfirmDialog } from '../../../components/forms/confirm-dialog';
import { keyWords, PROVIDER_KEY_WORDS } from '../../../words/clients';
import { reloadClients } from '../reload-clients';

interface Props {
  of: KeyDto;
  /** Whether the client has no other valid key. */
  isLast: boolean;
  close: () => void;
}

/** Asks for confirmation, and explains the effect of the revocation. */
export function RevokeKey({ of, isLast, close }: Props) {
  const { id, client, kind } = of;
  const ofProvider = PROVIDER_KEY_WORDS[kind];
  const queries = useQueryClient();
  const { session } = useSession();
  const run = async () => {
    await http.DELETE('/v1/clients/{name}/keys/{id}', { params: { path: { name: client, id } } });
    reloadClients(queries);
  };
  return (
    <ConfirmDialog title="Revoke a key" action="Revoke key" danger run={run} close={close}>
      <Text size="sm">
        {ofProvider ? (
          <>
            {ofProvider.ends} of the client <b>{client}</b> are
          </>
        ) : (
          <>
            The key <Code>{keyWords(of)}</Code> of the client <b>{client}</b> is
          </>
        )}{' '}
        rejected with 401 from the next request, on every instance. Everyone who is signed in with it is
        signed out. Calls that are being sent are completed. Its pending requests can no longer be approved.
      </Text>
      {ofProvider && <Text size="sm">{ofProvider.again}</Text>}
      {isLast && (
        <Text size="sm" fw={600}>
          It is the last key of {client}. The client cannot send requests until you issue another key.
        </Text>
      )}
      {session.key_id === id && (
        <Text size="sm" fw={600}>
          You are signed in with this key.
        </Text>
      )}
      <Text size="sm">This cannot be undone.</Text>
    </ConfirmDialog>
  );
}
