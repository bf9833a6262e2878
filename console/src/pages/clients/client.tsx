import { Alert, Anchor, Group, SimpleGrid, Stack, Button, List, Paper } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { useAccounts } from '../../api/accounts';
import { api, http } from '../../api/client';
import type { ClientDto } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { useStoredDraft } from '../../components/forms/draft-storage';
import { Failure } from '../../components/forms/failure';
import { useSubmit } from '../../components/forms/form';
import { useGate } from '../../components/forms/gate';
import { Page } from '../../components/page/page';
import { Section } from '../../components/page/section';
import { Answer } from '../../components/page/states';
import { Copyable } from '../../components/values/copyable';
import { Facts } from '../../components/values/facts';
import { Instant } from '../../components/values/values';
import { Keys } from './keys/keys';
import { PeriodUsage } from './limits/cap-usage';
import { changesInWords, changesOf, type Draft, draftOf, editsOf, faultsByField } from './limits/draft';
import { LimitFields } from './limits/limit-fields';
import { notifyPendingChange } from './pending-change';
import { reloadClients } from './reload-clients';

/** Shows one client: its spending, its keys, and its permissions. */
export default function ClientPage() {
  const { name = '' } = useParams();
  const client = api.useQuery('get', '/v1/clients/{name}', { params: { path: { name } } });
  return (
    <Page title={name}>
      <Group>
        <Anchor component={Link} href="/clients" size="sm">
          All clients
        </Anchor>
        <Anchor component={Link} href={`/activity?client=${name}`} size="sm">
          Change history
        </Anchor>
        <Anchor component={Link} href={`/clients/${name}/beneficiaries`} size="sm">
          Register of recipients
        </Anchor>
        <Anchor component={Link} href={`/clients/${name}/persons`} size="sm">
          People
        </Anchor>
      </Group>
      <Answer of={client} lines={8}>
        {(data) => (
          <Stack gap="xl">
            <Summary client={data} />
            <Section title="Keys">
              <Keys client={data} />
            </Section>
            <Section title="Permissions and limits">
              <ChangeClient client={data} />
            </Section>
          </Stack>
        )}
      </Answer>
    </Page>
  );
}

function Summary({ client }: { client: ClientDto }) {
  const { id, account, kind, created_at: at, active_keys: keys, usage } = client;
  const hasChoice = useAccounts().length > 1;
  return (
    <Stack gap="md">
      {kind === 'server' && keys === 0 && (
        <Alert color="orange" variant="light">
          This client has no valid key. Issue one so that it can send requests.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="xl">
        <Facts
          of={{
            ID: <Copyable text={id} label="the client's ID" />,
            Kind: kind,
            Account: hasChoice ? account : undefined,
            Created: <Instant at={at} />,
          }}
        />
        <PeriodUsage title="Spent today, UTC" cap={usage.daily} />
        <PeriodUsage title="Spent this month, UTC" cap={usage.monthly} />
      </SimpleGrid>
    </Stack>
  );
}

/** Changes the permissions of a client. Only edited fields are sent. */
function ChangeClient({ client }: { client: ClientDto }) {
  const queries = useQueryClient();
  const { session } = useSession();
  const [was, setWas] = useState(() => draftOf(client));
  const { kept, submitDraft } = useStoredDraft<Partial<Draft>>(`client ${client.name}`);
  const [draft, setDraft] = useState({ ...was, ...kept });
  const save = async () => {
    const path = { name: client.name };
    const { data } = await http.PATCH('/v1/clients/{name}', {
      params: { path },
      body: changesOf(draft, was),
    });
    reloadClients(queries);
    if (data && notifyPendingChange(data)) {
      setDraft(was);
      return;
    }
    if (data) {
      setWas(draftOf(data));
      setDraft(draftOf(data));
    }
    notifications.show({ message: 'Saved. The change applies from the next request.', color: 'teal' });
  };
  const { failure, busy, onSubmit } = useSubmit(() => submitDraft(editsOf(draft, was), save));
  return (
    <Paper withBorder p="md" maw={760}>
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <LimitFields
            draft={draft}
            faults={faultsByField(failure)}
            change={(change) => setDraft((before) => ({ ...before, ...change }))}
          />
          {failure !== undefined && <Failure failure={failure} />}
          {client.name === session.client && !draft.scopes.includes('admin') && (
            <Alert color="orange" variant="light">
              You are signed in with a key of this client. After you save this change, this key can no longer
              administer anything.
            </Alert>
          )}
          <Changes of={changesInWords(draft, was)} busy={busy} undo={() => setDraft(was)} />
        </Stack>
      </form>
    </Paper>
  );
}

function Changes({ of, busy, undo }: { of: string[]; busy: boolean; undo: () => void }) {
  const gate = useGate(of.length === 0 ? 'There are no changes to save.' : undefined);
  return (
    <>
      <div role="status">
        {gate.hint ?? (
          <List size="sm" className="wrap-anywhere">
            {of.map((change) => (
              <List.Item key={change}>{change}</List.Item>
            ))}
          </List>
        )}
      </div>
      <Group>
        <Button type="submit" loading={busy} {...gate.button}>
          Save
        </Button>
        <Button variant="default" onClick={undo} {...gate.button}>
          Undo
        </Button>
      </Group>
    </>
  );
}
