import { Alert, Select, Stack, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../../api/client';
import type {
  FaultKindDto,
  NewFaultDto,
  SampleDto,
  SandboxDto,
  SandboxFaultDto,
} from '../../../api/generated/schema';
import { messageOf } from '../../../api/problem';
import { Card } from '../../../components/page/section';
import { WordBadge } from '../../../components/values/badges';
import { formatCount } from '../../../components/values/format';
import { Operation } from '../../../components/values/values';
import { useReload } from '../queries';
import { FaultKind } from './fault-kind';

type Target = SampleDto['operation'] | 'any';

/** Lists the active faults and the faults that can be turned on. */
export function SandboxFaults({
  sandbox,
  operation,
}: {
  sandbox: SandboxDto;
  operation: SampleDto['operation'];
}) {
  const [choice, choose] = useState<{ shown: string; target: Target }>();
  // By default, the fault affects the operation of the sample.
  const target = choice?.shown === operation ? choice.target : operation;
  return (
    <Card title="Faults" lead="An active fault affects every matching request until you turn it off.">
      <ActiveFaults faults={sandbox.faults} />
      <Select
        label="Operation"
        allowDeselect={false}
        data={[
          ...sandbox.samples.map((sample) => ({ value: sample.operation, label: sample.operation })),
          { value: 'any' as const, label: 'any operation' },
        ]}
        value={target}
        onChange={(value) => value !== null && choose({ shown: operation, target: value })}
        description={
          target === 'any'
            ? "Faults also affect the proxy's own requests, such as those that resolve calls in doubt."
            : undefined
        }
      />
      <Kinds kinds={sandbox.kinds} target={target} />
    </Card>
  );
}

function Kinds({ kinds, target }: { kinds: FaultKindDto[]; target: Target }) {
  const adding = api.useMutation('post', '/v1/sandbox/faults', { onSettled: useReload() });
  const add = (fault: NewFaultDto) =>
    adding.mutate({ body: { ...fault, ...(target !== 'any' && { operation: target }) } });
  return (
    <>
      {adding.error && (
        <Alert color="red" role="alert">
          {messageOf(adding.error)}
        </Alert>
      )}
      <Stack gap={0}>
        {kinds.map((kind) => (
          <FaultKind key={kind.fault} kind={kind} add={add} isBusy={adding.isPending} />
        ))}
      </Stack>
    </>
  );
}

/** Lists the active faults, with the number of requests that triggered each. */
function ActiveFaults({ faults }: { faults: SandboxFaultDto[] }) {
  const onSettled = useReload();
  const removing = api.useMutation('delete', '/v1/sandbox/faults/{id}', { onSettled });
  const removingAll = api.useMutation('delete', '/v1/sandbox/faults', { onSettled });
  const failure: unknown = removing.error ?? removingAll.error;
  return (
    <Stack gap="xs" role="group" aria-label="Active faults">
      <Group justify="space-between" gap="xs" mih={30}>
        <Text size="sm" fw={600} role="status">
          {howMany(faults.length)}
        </Text>
        {faults.length > 1 && (
          <Button size="xs" variant="default" onClick={() => removingAll.mutate({})}>
            Turn all off
          </Button>
        )}
      </Group>
      {Boolean(failure) && (
        <Alert color="red" role="alert">
          {messageOf(failure)}
        </Alert>
      )}
      {faults.map((fault) => (
        <ActiveFault
          key={fault.id}
          fault={fault}
          remove={() => removing.mutate({ params: { path: { id: fault.id } } })}
        />
      ))}
    </Stack>
  );
}

const howMany = (count: number) =>
  count === 0
    ? 'No faults are active.'
    : count === 1
      ? 'One fault is active.'
      : `${count} faults are active.`;

function ActiveFault({ fault, remove }: { fault: SandboxFaultDto; remove: () => void }) {
  return (
    <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start">
      <Stack gap={2} miw={0}>
        <Group gap="xs">
          <WordBadge color="orange">{fault.fault}</WordBadge>
          <Text size="sm">{struckWords(fault.struck)}</Text>
        </Group>
        <Text size="xs" c="dimmed" component="div">
          {fault.operation === null ? 'any operation' : <Operation name={fault.operation} />},{' '}
          {whenWords(fault)}
        </Text>
      </Stack>
      <Button
        size="xs"
        variant="default"
        style={{ flexShrink: 0 }}
        onClick={remove}
        aria-label={`Turn off ${fault.fault}`}
      >
        Turn off
      </Button>
    </Group>
  );
}

function struckWords(struck: number): string {
  if (struck === 0) return 'not triggered yet';
  return struck === 1 ? 'triggered once' : `triggered ${formatCount(struck)} times`;
}

/** Describes "the 3rd request", or "each with a chance of 0.5; not carried out; ms 500". */
function whenWords({ nth, probability, processed, settings }: SandboxFaultDto): string {
  const which =
    nth !== null
      ? `request number ${nth}`
      : probability !== null
        ? `each with a chance of ${probability}`
        : 'every request';
  const carried = processed ? 'which is carried out' : 'which is not carried out';
  return [which, carried, ...Object.entries(settings).map(([name, value]) => `${name} ${value}`)].join(', ');
}
