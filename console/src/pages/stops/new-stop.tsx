import { Button, Group, Paper, Radio, Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { ClientDto, GrantableDto } from '../../api/generated/schema';
import { useGate } from '../../components/forms/gate';
import { Answer } from '../../components/page/states';
import { StopDialog } from './stop-dialog';
import { stoppedBy, type Target } from '../../components/values/stop-words';

/** Asks for the target of a stop, and then for confirmation. */
export function NewStop() {
  const grantable = api.useQuery('get', '/v1/operations');
  const clients = api.useQuery('get', '/v1/clients');
  return (
    <Answer of={grantable}>
      {({ operations }) => (
        <Answer of={clients}>
          {({ clients: all }) => <TargetForm operations={operations} clients={all} />}
        </Answer>
      )}
    </Answer>
  );
}

interface Known {
  operations: GrantableDto['operations'];
  clients: ClientDto[];
}

type Kind = keyof Target;

/** Returns the target of the form, if it is complete. */
function targetFrom(kind: Kind, client: string | null, operation: string | null): Target | undefined {
  if (kind === 'everything') return { everything: true };
  if (kind === 'client') return client === null ? undefined : { client };
  return operation === null ? undefined : { operation: operation as NonNullable<Target['operation']> };
}

function TargetForm({ operations, clients }: Known) {
  const [kind, setKind] = useState<Kind>('operation');
  const [client, setClient] = useState<string | null>(null);
  const [operation, setOperation] = useState<string | null>(null);
  const [asked, setAsked] = useState<Target>();
  const target = targetFrom(kind, client, operation);
  const gate = useGate(
    target ? undefined : `Choose ${kind === 'client' ? 'a client' : 'an operation'} first.`,
  );
  const allowed = clients.find(({ name }) => name === asked?.client)?.operations ?? null;
  return (
    <Paper withBorder p="md" maw={560}>
      <Stack>
        <Radio.Group label="Target" value={kind} onChange={setKind}>
          <Stack gap="xs" mt={4}>
            <Radio value="operation" label="One operation, of all clients" />
            <Radio value="client" label="One client, all payments and writes" />
            <Radio value="everything" label="Everything, of all clients" />
          </Stack>
        </Radio.Group>
        {kind === 'operation' && (
          <Select
            label="Operation"
            placeholder="Choose one"
            searchable
            value={operation}
            data={stoppedBy({}, operations)}
            onChange={setOperation}
          />
        )}
        {kind === 'client' && (
          <Select
            label="Client"
            placeholder="Choose one"
            searchable
            value={client}
            data={clients.map(({ name }) => name)}
            onChange={setClient}
          />
        )}
        <Group gap="sm">
          <Button color="red.9" onClick={() => setAsked(target)} {...gate.button}>
            Stop…
          </Button>
          {gate.hint}
        </Group>
      </Stack>
      {asked && (
        <StopDialog
          target={asked}
          operations={stoppedBy(asked, operations, allowed)}
          clientCount={clients.length}
          close={() => setAsked(undefined)}
        />
      )}
    </Paper>
  );
}
