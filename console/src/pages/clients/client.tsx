import { Alert, Anchor, Group, SimpleGrid, Stack } from '@mantine/core';
import { Link, useParams } from 'wouter';
import { useAccounts } from '../../api/accounts';
import { api } from '../../api/client';
import type { ClientDto } from '../../api/generated/schema';
import { Page } from '../../components/page/page';
import { Section } from '../../components/page/section';
import { Answer } from '../../components/page/states';
import { Copyable } from '../../components/values/copyable';
import { Facts } from '../../components/values/facts';
import { Instant } from '../../components/values/values';
import { ChangeClient } from './change-client';
import { Keys } from './keys/keys';
import { PeriodUsage } from './limits/cap-usage';

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
            Id: <Copyable text={id} label="the client's id" />,
            Kind: kind,
            Account: hasChoice ? account : undefined,
            Made: <Instant at={at} />,
          }}
        />
        <PeriodUsage title="Spent today, UTC" cap={usage.daily} />
        <PeriodUsage title="Spent this month, UTC" cap={usage.monthly} />
      </SimpleGrid>
    </Stack>
  );
}
