import { Button, NativeSelect, SimpleGrid, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { http } from '../../../api/client';
import type { ChangePersonDto, ClientDto, PersonDto } from '../../../api/generated/schema';
import { useStoredDraft } from '../../../components/forms/draft-storage';
import { ReasonDialog } from '../../../components/forms/reason-dialog';
import { editsOf, type Faults, faultsByField, LABELS } from '../limits/draft';
import { notifyPendingChange } from '../pending-change';
import { reloadClients } from '../reload-clients';
import {
  defaultInWords,
  OWN_LIMITS,
  personChanges,
  type PersonDraft,
  personDraftOf,
  personWords,
} from './person-limits';

interface Props {
  client: ClientDto;
  /** Undefined for a person who may not be known yet. */
  person?: PersonDto;
  /** Called with the ID of the person once the limits apply. */
  saved?: (id: string) => void;
  close: () => void;
}

interface PersonName {
  name: string;
  /** Empty if the app names the person. */
  issuer: string;
}

interface FormValues {
  named: PersonName;
  edits: Partial<PersonDraft>;
}

/** Sets the limits of a person, or restores the client's. Only edited fields are sent. */
export function LimitPerson({ client, person, saved, close }: Props) {
  const queries = useQueryClient();
  const form = `limits of ${client.name} ${person?.id ?? ''}`;
  const { kept, submitDraft } = useStoredDraft<FormValues>(form);
  const [named, setNamed] = useState(kept?.named ?? { name: '', issuer: issuersOf(client)[0] ?? '' });
  const [was] = useState(() => personDraftOf(person));
  const [draft, setDraft] = useState({ ...was, ...kept?.edits });
  const [faults, setFaults] = useState<Faults>({});
  const changes = personChanges(draft, was);
  const run = async (reason: string) => {
    setFaults({});
    const answer = await send(client.name, person?.id ?? named, { ...changes, reason });
    reloadClients(queries);
    if (!answer || notifyPendingChange(answer)) return;
    notifications.show({ message: 'Saved. The limits apply from the next request.', color: 'teal' });
    saved?.(answer.id);
  };
  const isUnnamed = !person && named.name.trim() === '';
  const nothing = Object.keys(changes).length === 0 ? 'Change a limit first.' : undefined;
  return (
    <ReasonDialog
      title={person ? `Limits of ${personWords(person)}` : 'Limits for a person'}
      action="Save"
      missing={isUnnamed ? 'Enter the person first.' : nothing}
      decision={`reason for ${form}`}
      run={(reason) =>
        submitDraft({ named, edits: editsOf(draft, was) }, () => run(reason)).catch((error: unknown) => {
          setFaults(faultsByField(error));
          throw error;
        })
      }
      close={close}
    >
      {!person && <NameFields client={client} named={named} faults={faults} change={setNamed} />}
      <Text size="sm" c="dimmed">
        An empty field keeps the default of {client.name} for each of its people.
      </Text>
      <OwnLimitFields client={client} draft={draft} faults={faults} change={setDraft} />
    </ReasonDialog>
  );
}

/** @param whom ID of a known person, or the name of any person. */
async function send(client: string, whom: string | PersonName, change: ChangePersonDto) {
  if (typeof whom === 'string') {
    const path = { name: client, id: whom };
    return (await http.PATCH('/v1/clients/{name}/persons/{id}', { params: { path }, body: change })).data;
  }
  const body = { name: whom.name.trim(), ...(whom.issuer !== '' && { issuer: whom.issuer }), ...change };
  return (await http.POST('/v1/clients/{name}/persons', { params: { path: { name: client } }, body })).data;
}

interface NameProps {
  client: ClientDto;
  named: PersonName;
  faults: Faults;
  change: (named: PersonName) => void;
}

/** Issuers at which people of the client sign in. */
const issuersOf = (client: ClientDto) => [
  ...new Set([client.token_issuer, client.page_issuer].filter((issuer) => issuer !== null)),
];

function NameFields({ client, named, faults, change }: NameProps) {
  const issuers = issuersOf(client);
  return (
    <>
      {issuers.length > 0 && (
        <NativeSelect
          label="Named by"
          value={named.issuer}
          error={faults.issuer}
          data={[
            ...issuers.map((issuer) => ({ value: issuer, label: issuer })),
            { value: '', label: 'the app' },
          ]}
          onChange={({ currentTarget: { value } }) => change({ ...named, issuer: value })}
        />
      )}
      <TextInput
        label="Name"
        required
        autoComplete="off"
        maxLength={255}
        value={named.name}
        error={faults.name}
        description={
          named.issuer === ''
            ? 'Name that the app sends in X-Actor or for an ephemeral key.'
            : 'Subject at the provider.'
        }
        data-autofocus
        onChange={({ currentTarget: { value } }) => change({ ...named, name: value })}
      />
    </>
  );
}

interface LimitProps {
  client: ClientDto;
  draft: PersonDraft;
  faults: Faults;
  change: (draft: PersonDraft) => void;
}

function OwnLimitFields({ client, draft, faults, change }: LimitProps) {
  const isOwn = OWN_LIMITS.some((name) => draft[name] !== '');
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {OWN_LIMITS.map((name) => (
          <TextInput
            key={name}
            data-autofocus={name === OWN_LIMITS[0] ? true : undefined}
            label={name.endsWith('_usd') ? `${LABELS[name]}, USD` : LABELS[name]}
            placeholder={`Default: ${defaultInWords(client, name)}`}
            autoComplete="off"
            value={draft[name]}
            inputMode={name.endsWith('_usd') ? 'decimal' : 'numeric'}
            error={faults[name]}
            onChange={({ currentTarget: { value } }) => change({ ...draft, [name]: value.trim() })}
          />
        ))}
      </SimpleGrid>
      {isOwn && (
        <Button
          variant="default"
          size="compact-sm"
          style={{ alignSelf: 'flex-start' }}
          onClick={() => change(personDraftOf(undefined))}
        >
          Back to the defaults
        </Button>
      )}
    </>
  );
}
