import { Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccounts } from '../../api/accounts';
import { http } from '../../api/client';
import type { ClientDto } from '../../api/generated/schema';
import { useStoredDraft } from '../../components/forms/draft-storage';
import { FormEnd, useSubmit } from '../../components/forms/form';
import { MAIN_ACCOUNT } from '../../components/values/format';
import { type Expiry, ExpiryField, expiryIn, DEFAULT_EXPIRY } from './keys/expiry-field';
import { changesOf, type Draft, type Faults, faultsByField, NO_LIMITS } from './limits/draft';
import { LimitFields } from './limits/limit-fields';
import { notifyPendingChange } from './pending-change';
import { reloadClients } from './reload-clients';

type ClientKind = ClientDto['kind'];

const KINDS: { value: ClientKind; label: string }[] = [
  { value: 'server', label: 'Server: has secret keys' },
  { value: 'public', label: 'Public: has no secret keys' },
];

interface Props {
  /** Called with the new key, which is invalid until the client is approved. A public client has none. */
  created: (client: { client: string; key?: string | undefined; waits: boolean }) => void;
  close: () => void;
}

interface FormValues {
  name: string;
  account: string;
  kind: ClientKind;
  person: string;
  expiry: Expiry;
  draft: Draft;
}

const EMPTY_FORM: FormValues = {
  name: '',
  account: MAIN_ACCOUNT,
  kind: 'server',
  person: '',
  expiry: DEFAULT_EXPIRY,
  draft: { ...NO_LIMITS, scopes: ['pay', 'read'] },
};

/** Creates a client, with its first key if it is a server. */
export function CreateClient({ created, close }: Props) {
  const queries = useQueryClient();
  const { kept = EMPTY_FORM, submitDraft } = useStoredDraft<FormValues>('new client');
  const [entered, setFormValues] = useState(kept);
  const change = (changed: Partial<FormValues>) => setFormValues((before) => ({ ...before, ...changed }));
  const create = async () => {
    const body = bodyOf(entered);
    const { data } = await http.POST('/v1/clients', { body });
    reloadClients(queries);
    if (data) created({ client: body.name, key: data.key, waits: notifyPendingChange(data) });
  };
  const { failure, busy, onSubmit } = useSubmit(() => submitDraft(entered, create));
  const faults = faultsByField(failure);
  return (
    <Modal opened onClose={close} size="lg" title="New client" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <IdentityFields entered={entered} faults={faults} change={change} />
          {entered.kind === 'server' && <KeyFields entered={entered} faults={faults} change={change} />}
          <LimitFields
            draft={entered.draft}
            faults={faults}
            change={(limits) =>
              setFormValues((before) => ({ ...before, draft: { ...before.draft, ...limits } }))
            }
          />
          <FormEnd
            failure={failure}
            busy={busy}
            action="Create"
            missing={entered.name.trim() === '' ? 'Enter a name first.' : undefined}
            cancel={close}
          />
        </Stack>
      </form>
    </Modal>
  );
}

interface FieldsProps {
  entered: FormValues;
  faults: Faults;
  change: (changed: Partial<FormValues>) => void;
}

function IdentityFields({ entered: { name, account, kind }, faults, change }: FieldsProps) {
  return (
    <>
      <TextInput
        label="Name"
        description="Lowercase letters, digits, and dashes. Part of the client's keys and cannot be changed."
        required
        autoComplete="off"
        data-autofocus
        value={name}
        error={faults.name}
        onChange={({ currentTarget: { value } }) => change({ name: value })}
      />
      <AccountField account={account} error={faults.account} change={(value) => change({ account: value })} />
      <NativeSelect
        label="Kind"
        description="Public clients, such as mobile apps, have no secret keys. The kind cannot be changed."
        data={[...KINDS]}
        value={kind}
        error={faults.kind}
        onChange={({ currentTarget: { value } }) => change({ kind: value as ClientKind })}
      />
    </>
  );
}

/** Owner and expiry of the first key. */
function KeyFields({ entered: { person, expiry }, faults, change }: FieldsProps) {
  return (
    <>
      <TextInput
        label="Person"
        description="ID of the key's owner, not an email address. People cannot approve their own requests."
        autoComplete="off"
        value={person}
        error={faults.person}
        onChange={({ currentTarget: { value } }) => change({ person: value })}
      />
      <ExpiryField expiry={expiry} error={faults.expires_at} change={(value) => change({ expiry: value })} />
    </>
  );
}

function bodyOf({ name, account, kind, person, expiry, draft }: FormValues) {
  const limits = { ...changesOf(draft, NO_LIMITS), scopes: draft.scopes };
  const owner = person.trim() !== '' && { person: person.trim() };
  const key = kind === 'server' && { ...owner, ...expiryIn(expiry) };
  return { name: name.trim(), account, kind, ...limits, ...key };
}

interface AccountProps {
  account: string;
  error: string | undefined;
  change: (account: string) => void;
}

/** Selects the upstream account. Hidden if there is only one. */
function AccountField({ account, error, change }: AccountProps) {
  const names = useAccounts().flatMap(({ name, configured }) => (configured ? [name] : []));
  if (names.length < 2) return null;
  return (
    <NativeSelect
      label="Account"
      data={names}
      value={account}
      error={error}
      description="Upstream account that the client pays from. It cannot be changed."
      onChange={({ currentTarget: { value } }) => change(value)}
    />
  );
}
