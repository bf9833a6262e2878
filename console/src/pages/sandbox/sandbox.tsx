import { Code, Grid, Stack } from '@mantine/core';
import { api } from '../../api/client';
import type { SandboxDto } from '../../api/generated/schema';
import { useAddress } from '../../components/lists/address';
import { Page } from '../../components/page/page';
import { Answer, Empty, Failure } from '../../components/page/states';
import { SandboxFaults } from './faults/faults';
import { SandboxLies } from './lies/lies';
import { useSampleRequest } from './queries';
import { SampleForm } from './samples/sample-form';
import { SentSample } from './samples/sent-sample';
import { Wallets } from './wallets';

/** Interval for refetching the sandbox, in milliseconds. */
const LOOK_EVERY = 2_000;
const ADDRESS = ['operation'] as const;

/** Leads newcomers through a payout, a fault, and its result. */
export default function SandboxPage() {
  const sandbox = api.useQuery('get', '/v1/sandbox', {}, { refetchInterval: LOOK_EVERY });
  return (
    <Page
      title="Sandbox"
      lead={
        <>
          This is a simulated payout service that the proxy started. No money moves, but everything else is
          real. Try this: <b>1</b> send a sample payout, <b>2</b> open its history, <b>3</b> turn on a fault
          such as <Code>resetAfterProcessing</Code> and send another amount, <b>4</b> follow in its history
          how the proxy settles the call in doubt by asking the upstream.
        </>
      }
    >
      {sandbox.error && sandbox.data && <Failure error={sandbox.error} />}
      <Answer of={sandbox} lines={12}>
        {(data) => <SandboxControls sandbox={data} />}
      </Answer>
    </Page>
  );
}

function SandboxControls({ sandbox }: { sandbox: SandboxDto }) {
  const { values, change } = useAddress(ADDRESS);
  const sending = useSampleRequest();
  const sample =
    sandbox.samples.find(({ operation }) => operation === values.operation) ?? sandbox.samples[0];
  if (!sample) return <Empty>The sandbox has no samples.</Empty>;
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="md">
          <SampleForm
            key={sample.operation}
            sandbox={sandbox}
            sample={sample}
            sending={sending}
            choose={(operation) => {
              sending.reset(); // The response belonged to another sample.
              change({ operation });
            }}
          />
          <SentSample sending={sending} />
          <Wallets wallets={sandbox.wallets} />
          <SandboxLies lies={sandbox.lies} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <SandboxFaults sandbox={sandbox} operation={sample.operation} />
      </Grid.Col>
    </Grid>
  );
}
