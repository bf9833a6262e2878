import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { http } from '../../../api/client';
import { useStoredDraft } from '../../../components/forms/draft-storage';
import { FormEnd, useSubmit } from '../../../components/forms/form';
import { faultsByField } from '../limits/draft';
import { notifyPendingChange } from '../pending-change';
import { reloadClients } from '../reload-clients';
import { type Expiry, ExpiryField, expiryIn, DEFAULT_EXPIRY } from './expiry-field';

interface FormValues {
  person: string;
  subject: string;
  expiry: Expiry;
}

/** Lets a person sign in at the OpenID provider as a client. */
export function AllowSignIn({ client, close }: { client: string; close: () => void }) {
  const queries = useQueryClient();
  const { kept, submitDraft } = useStoredDraft<FormValues>(`sign-in of ${client}`);
  const [person, setPerson] = useState(kept?.person ?? '');
  const [subject, setSubject] = useState(kept?.subject ?? '');
  const [expiry, setExpiry] = useState(kept?.expiry ?? DEFAULT_EXPIRY);
  const missing =
    person.trim() === '' || subject.trim() === '' ? 'Enter the person and the subject first.' : undefined;
  const allow = async () => {
    const body = { person: person.trim(), subject: subject.trim(), ...expiryIn(expiry) };
    const { data } = await http.POST('/v1/clients/{name}/sign-ins', {
      params: { path: { name: client } },
      body,
    });
    reloadClients(queries);
    if (data) notifyPendingChange(data);
    close();
  };
  const { failure, busy, onSubmit } = useSubmit(() => submitDraft({ person, subject, expiry }, allow));
  const faults = faultsByField(failure);
  return (
    <Modal
      opened
      onClose={close}
      title={`Let a person sign in as ${client}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <Text size="sm">
            Ask the person to sign in once. The page that rejects them shows their subject, which is their ID
            at your OpenID provider.
          </Text>
          <TextInput
            label="Person"
            autoComplete="off"
            required
            value={person}
            error={faults.person}
            description="ID of the person in records, not an email address."
            data-autofocus
            onChange={({ currentTarget: { value } }) => setPerson(value)}
          />
          <TextInput
            label="Subject"
            autoComplete="off"
            required
            value={subject}
            error={faults.subject}
            onChange={({ currentTarget: { value } }) => setSubject(value)}
          />
          <ExpiryField expiry={expiry} error={faults.expires_at} change={setExpiry} />
          <FormEnd failure={failure} busy={busy} missing={missing} action="Allow sign-in" cancel={close} />
        </Stack>
      </form>
    </Modal>
  );
}
