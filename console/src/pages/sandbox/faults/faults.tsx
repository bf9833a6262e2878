import { Alert, Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../../api/client';
import type { FaultKindDto, NewFaultDto, SampleDto, SandboxDto } from '../../../api/generated/schema';
import { messageOf } from '../../../api/problem';
import { Card } from '../../../components/page/section';
import { useReload } from '../queries';
import { ActiveFaults } from './active-faults';
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
