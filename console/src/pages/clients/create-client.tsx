import { Alert, Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { http } from '../../api/client';
import type { NewClientDto } from '../../api/generated/schema';
import { messageOf } from '../../api/problem';
import { changesOf, type Draft, faultsOf, NO_LIMITS } from './draft';
import { forgetClients } from './forget';
import { LimitFields } from './limit-fields';

interface Props {
  created: (client: NewClientDto) => void;
  close: () => void;
}

/** Makes a client with its first key. */
export function CreateClient({ created, close }: Props) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [person, setPerson] = useState('');
  const [draft, setDraft] = useState<Draft>({ ...NO_LIMITS, scopes: ['pay', 'read'] });
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const faults = faultsOf(failure);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      const limits = { ...changesOf(draft, NO_LIMITS), scopes: draft.scopes };
      const body = { name: name.trim(), ...limits, ...(person.trim() !== '' && { person: person.trim() }) };
      const { data } = await http.POST('/v1/clients', { body });
      forgetClients(queries);
      if (data) created(data);
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={close} size="lg" title="New client" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          <TextInput
            {...{ label: 'Name', required: true, autoComplete: 'off', value: name, error: faults.name }}
            description="Lower-case letters, digits and dashes. It stands in its keys, and never changes."
            data-autofocus
            onChange={({ currentTarget: { value } }) => setName(value)}
          />
          <TextInput
            {...{ label: 'Person', autoComplete: 'off', value: person, error: faults.person }}
            description="Whose the first key is, where it is one person’s: nobody approves what they asked for. An id, no e-mail address."
            onChange={({ currentTarget: { value } }) => setPerson(value)}
          />
          <LimitFields draft={draft} faults={faults} change={(change) => setDraft({ ...draft, ...change })} />
          {failure !== undefined && (
            <Alert color="red" role="alert">
              {messageOf(failure)}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={busy} disabled={name.trim() === ''}>
              Create
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
