import { Alert, Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { http } from '../../api/client';
import { messageOf } from '../../api/problem';
import { faultsOf } from './draft';
import { forgetClients } from './forget';

interface Props {
  client: string;
  issued: (key: string) => void;
  close: () => void;
}

/** Issues one more key for a client. */
export function IssueKey({ client, issued, close }: Props) {
  const queries = useQueryClient();
  const [person, setPerson] = useState('');
  const [until, setUntil] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const faults = faultsOf(failure);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      const body = {
        ...(person.trim() !== '' && { person: person.trim() }),
        ...(until !== '' && { expires_at: new Date(until).toISOString() }),
      };
      const { data } = await http.POST('/v1/clients/{name}/keys', { params: { path: { name: client } }, body });
      forgetClients(queries);
      if (data) issued(data.key);
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={close} title={`Another key of ${client}`} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          <TextInput
            {...{ label: 'Person', autoComplete: 'off', value: person, error: faults.person }}
            description="Whose it is, where it is one person’s. An id, no e-mail address."
            data-autofocus
            onChange={({ currentTarget: { value } }) => setPerson(value)}
          />
          <TextInput
            {...{ label: 'Expires', type: 'datetime-local', value: until, error: faults.expires_at }}
            description="In your time zone. Left empty, it is taken until it is revoked."
            onChange={({ currentTarget: { value } }) => setUntil(value)}
          />
          {failure !== undefined && (
            <Alert color="red" role="alert">
              {messageOf(failure)}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={busy}>
              Issue
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
