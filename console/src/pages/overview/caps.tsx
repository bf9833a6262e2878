import { Anchor, Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { CapDto, OverviewClient } from '../../api/generated/schema';
import { Empty } from '../../components/page/states';
import { formatUsd, percentOf } from '../../components/values/format';

/** Shows each client's spending and caps. */
export function Caps({ clients }: { clients: OverviewClient[] }) {
  if (clients.length === 0) return <Empty>No client has a cap or has spent anything this month.</Empty>;
  return (
    <Stack gap="sm">
      {clients.map(({ name, daily, monthly }) => (
        <div key={name}>
          <Anchor component={Link} href={`/clients/${name}`} size="sm" fw={600}>
            {name}
          </Anchor>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing={4}>
            <CapUsed words="today" cap={daily} />
            <CapUsed words="this month" cap={monthly} />
          </SimpleGrid>
        </div>
      ))}
    </Stack>
  );
}

/** Share of the cap above which the bar warns. */
const NEARLY_USED_PERCENT = 80;

function CapUsed({ words, cap: { cap_usd: cap, spent_usd: spent } }: { words: string; cap: CapDto }) {
  const used = cap === null ? 0 : percentOf(spent, cap);
  return (
    <div>
      <Group justify="space-between" gap={4}>
        <Text size="xs" c="dimmed">
          {words}
        </Text>
        <Text size="xs">
          {formatUsd(spent)} {cap === null ? 'spent, no cap' : `of ${formatUsd(cap)}`}
        </Text>
      </Group>
      {cap !== null && (
        <Progress
          value={used}
          size="sm"
          color={used >= NEARLY_USED_PERCENT ? 'orange' : 'blue'}
          aria-label={`Share of the cap used ${words}`}
        />
      )}
    </div>
  );
}
