import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { api } from '../../../api/client';
import type { SandboxFaultDto } from '../../../api/generated/schema';
import { messageOf } from '../../../api/problem';
import { WordBadge } from '../../../components/values/badges';
import { formatCount } from '../../../components/values/format';
import { Operation } from '../../../components/values/values';
import { useReload } from '../queries';

/** Lists the active faults, with the number of requests that triggered each. */
export function ActiveFaults({ faults }: { faults: SandboxFaultDto[] }) {
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
