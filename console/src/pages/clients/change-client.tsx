import { Alert, Button, Group, List, Paper, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { http } from '../../api/client';
import type { ClientDto } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { useStoredDraft } from '../../components/forms/draft-storage';
import { Failure } from '../../components/forms/failure';
import { useSubmit } from '../../components/forms/form';
import { useGate } from '../../components/forms/gate';
import { changesInWords, changesOf, type Draft, draftOf, editsOf, faultsByField } from './limits/draft';
import { LimitFields } from './limits/limit-fields';
import { notifyPendingChange } from './pending-change';
import { reloadClients } from './reload-clients';

/** Changes the permissions of a client. Only edited fields are sent. */
export function ChangeClient({ client }: { client: ClientDto }) {
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
