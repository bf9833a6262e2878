import { Modal, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { http } from '../../../api/client';
import { useStoredDraft } from '../../../components/forms/draft-storage';
import { FormEnd, useSubmit } from '../../../components/forms/form';
import { faultsByField } from '../limits/draft';
import { notifyPendingChange } from '../pending-change';
import { reloadClients } from '../reload-clients';
import { type Expiry, ExpiryField, expiryIn, DEFAULT_EXPIRY } from './expiry-field';

interface Props {
  client: string;
  issued: (key: string) => void;
  close: () => void;
}

/** Issues another key for a client. */
export function IssueKey({ client, issued, close }: Props) {
  const queries = useQueryClient();
  const { kept, submitDraft } = useStoredDraft<{ person: string; expiry: Expiry }>(`key of ${client}`);
  const [person, setPerson] = useState(kept?.person ?? '');
  const [expiry, setExpiry] = useState(kept?.expiry ?? DEFAULT_EXPIRY);
  const issue = async () => {
    const body = { ...(person.trim() !== '' && { person: person.trim() }), ...expiryIn(expiry) };
    const { data } = await http.POST('/v1/clients/{name}/keys', { params: { path: { name: client } }, body });
    reloadClients(queries);
    if (data) notifyPendingChange(data);
    if (data?.key !== undefined) issued(data.key);
  };
  const { failure, busy, onSubmit } = useSubmit(() => submitDraft({ person, expiry }, issue));
  const faults = faultsByField(failure);
  return (
    <Modal
      opened
      onClose={close}
      title={`Another key of ${client}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <TextInput
            label="Person"
            autoComplete="off"
            value={person}
            error={faults.person}
            description="ID of the person who owns the key, not an email address."
            data-autofocus
            onChange={({ currentTarget: { value } }) => setPerson(value)}
          />
          <ExpiryField expiry={expiry} error={faults.expires_at} change={setExpiry} />
          <FormEnd failure={failure} busy={busy} action="Issue" cancel={close} />
        </Stack>
      </form>
    </Modal>
  );
}
