import { Button, Group, Stack, Text } from '@mantine/core';
import { KeyRound, UserRound } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../../api/client';
import type { ClientDto, KeyDto } from '../../../api/generated/schema';
import { hasProvider } from '../../../api/provider';
import { type Column, DataTable } from '../../../components/lists/data-table';
import { WordBadge } from '../../../components/values/badges';
import { Instant, Maybe } from '../../../components/values/values';
import { KEY_COLORS, keyWords } from '../../../words/clients';
import { AllowSignIn } from './allow-sign-in';
import { EphemeralKeys } from './ephemeral-keys';
import { IssueKey } from './issue-key';
import { NewKeyDialog } from './new-key-dialog';
import { RevokeKey } from './revoke-key';

const COLUMNS: Column<KeyDto>[] = [
  {
    id: 'hint',
    title: 'Key',
    render: (key) => (
      <Text size="sm" ff="monospace" style={{ whiteSpace: 'nowrap' }}>
        {keyWords(key)}
      </Text>
    ),
  },
  { id: 'person', title: 'Person', render: ({ person }) => <Maybe text={person} /> },
  {
    id: 'state',
    title: 'State',
    render: ({ state }) => <WordBadge color={KEY_COLORS[state]}>{state}</WordBadge>,
  },
  { id: 'created', title: 'Issued', render: ({ created_at: at }) => <Instant at={at} /> },
  { id: 'expires', title: 'Expires', render: ({ expires_at: at }) => <Instant at={at} /> },
  { id: 'used', title: 'Last used', render: ({ last_used_at: at }) => <Instant at={at} relative /> },
];

/** Lists a client's keys, with actions to issue and revoke them. */
export function Keys({ client }: { client: ClientDto }) {
  const { name } = client;
  const keys = api.useQuery('get', '/v1/clients/{name}/keys', { params: { path: { name } } });
  const [issuing, setIssuing] = useState(false);
  const [allowing, setAllowing] = useState(false);
  const [issued, setIssued] = useState<string>();
  const [revoking, setRevoking] = useState<KeyDto>();
  const actions: Column<KeyDto> = {
    id: 'actions',
    title: 'Revoke',
    render: (key) =>
      (key.state === 'active' || key.state === 'unclaimed') && (
        <Revoke of={key} revoke={() => setRevoking(key)} />
      ),
  };
  return (
    <Stack gap="sm">
      {client.kind === 'public' ? (
        <NoSecretKeys />
      ) : (
        <Rotation issue={() => setIssuing(true)} allow={() => setAllowing(true)} />
      )}
      <DataTable
        label="Keys"
        columns={[...COLUMNS, actions]}
        rows={keys.data?.keys}
        keyOf={({ id }) => id}
        error={keys.error}
        retry={keys.refetch}
        empty="This client has no keys."
      />
      {keys.data && (client.kind === 'server' || keys.data.active_ephemeral_keys > 0) && (
        <EphemeralKeys client={name} active={keys.data.active_ephemeral_keys} />
      )}
      {issuing && (
        <IssueKey
          client={name}
          close={() => setIssuing(false)}
          issued={(key) => {
            setIssuing(false);
            setIssued(key);
          }}
        />
      )}
      {allowing && <AllowSignIn client={name} close={() => setAllowing(false)} />}
      {issued !== undefined && (
        <NewKeyDialog of={{ client: name, key: issued }} close={() => setIssued(undefined)} />
      )}
      {revoking && (
        <RevokeKey
          of={revoking}
          isLast={revoking.kind === 'secret' && client.active_keys === 1}
          close={() => setRevoking(undefined)}
        />
      )}
    </Stack>
  );
}

function Rotation({ issue, allow }: { issue: () => void; allow: () => void }) {
  return (
    <>
      <Group>
        <Button variant="default" leftSection={<KeyRound size={16} aria-hidden />} onClick={issue}>
          Issue another key
        </Button>
        {hasProvider && (
          <Button variant="default" leftSection={<UserRound size={16} aria-hidden />} onClick={allow}>
            Let a person sign in
          </Button>
        )}
      </Group>
      <Text size="sm" c="dimmed" maw="70ch">
        To rotate a key, issue another key and let the app use it. When the old key is no longer used, revoke
        it. Both keys are valid until then.
      </Text>
    </>
  );
}

function NoSecretKeys() {
  return (
    <Text size="sm" c="dimmed" maw="70ch">
      A public client has no secret keys, because anyone can read the code of an app. Its people send access
      tokens of its identity provider, or sign in to its pages.
    </Text>
  );
}

function Revoke({ of, revoke }: { of: KeyDto; revoke: () => void }) {
  return (
    <Button size="compact-xs" variant="default" onClick={revoke} aria-label={`Revoke ${keyWords(of)}`}>
      Revoke
    </Button>
  );
}
