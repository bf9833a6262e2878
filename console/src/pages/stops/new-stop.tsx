import { Button, Group, Paper, Radio, Select, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, http } from '../../api/client';
import type { ClientDto, GrantableDto } from '../../api/generated/schema';
import { useGate } from '../../components/forms/gate';
import { ReasonDialog } from '../../components/forms/reason-dialog';
import { Answer } from '../../components/page/states';
import { stoppedBy, type Target, inShort } from '../../words/stops';

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

interface TargetOptions {
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

function TargetForm({ operations, clients }: TargetOptions) {
  const [kind, setKind] = useState<Kind>('operation');
  const [client, setClient] = useState<string | null>(null);
  const [operation, setOperation] = useState<string | null>(null);
  const [chosen, setChosen] = useState<Target>();
  const target = targetFrom(kind, client, operation);
  const gate = useGate(
    target ? undefined : `Choose ${kind === 'client' ? 'a client' : 'an operation'} first.`,
  );
  const allowed = clients.find(({ name }) => name === chosen?.client)?.operations ?? null;
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
          <Button color="red.9" onClick={() => setChosen(target)} {...gate.button}>
            Stop…
          </Button>
          {gate.hint}
        </Group>
      </Stack>
      {chosen && (
        <StopDialog
          target={chosen}
          operations={stoppedBy(chosen, operations, allowed)}
          clientCount={clients.length}
          close={() => setChosen(undefined)}
        />
      )}
    </Paper>
  );
}

interface Props {
  target: Target;
  /** Affected operations, by name. */
  operations: string[];
  clientCount: number;
  close: () => void;
}

const MAX_REASON = 500;

/** Shows the effect of a stop before it is added. */
function StopDialog({ target, operations, clientCount, close }: Props) {
  const queries = useQueryClient();
  const run = async (reason: string) => {
    await http.POST('/v1/stops', { body: { ...target, reason } });
    await queries.invalidateQueries({ queryKey: ['get', '/v1/stops'] });
  };
  const owner = target.client === undefined ? `all ${clientCount} clients` : `the client ${target.client}`;
  return (
    <ReasonDialog
      title={target.everything ? 'Stop everything' : 'Stop'}
      action={target.everything ? 'Stop everything' : 'Stop it'}
      danger
      maxLength={MAX_REASON}
      typed={target.everything ? 'stop everything' : undefined}
      run={run}
      close={close}
    >
      <Text fw={600} className="wrap-anywhere">
        {inShort(target)}
      </Text>
      <Text size="sm">
        {operations.length === 0
          ? `This affects no operation that ${owner} may use now. Operations allowed later are refused ` +
            'too, with your reason.'
          : `These operations of ${owner} are refused on every instance, with your reason:`}
      </Text>
      {operations.length > 0 && (
        <Text size="sm" ff="monospace" className="wrap-anywhere">
          {operations.map((name) => name.replace(' ', '\u00a0')).join(', ')}
        </Text>
      )}
      <Text size="sm">
        Reads continue. Calls that are being sent are completed. Pending requests stay pending, but cannot be
        approved until the stop is lifted.
      </Text>
      <Text size="sm" c="dimmed">
        Every refused app sees the reason. Do not include names of people or secrets.
      </Text>
    </ReasonDialog>
  );
}
