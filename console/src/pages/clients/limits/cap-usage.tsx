import { Progress, Stack, Text } from '@mantine/core';
import type { CapDto } from '../../../api/generated/schema';
import { percentOf } from '../../../components/values/format';
import { Instant, Usd } from '../../../components/values/values';

/** Shows the use of a cap: a bar, and the exact amounts. */
export function CapUsage({ cap, label }: { cap: CapDto; label: string }) {
  const { cap_usd: most, spent_usd: spent, left_usd: left } = cap;
  if (most === null) {
    return (
      <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
        <Usd amount={spent} />{' '}
        <Text span c="dimmed" inherit>
          no cap
        </Text>
      </Text>
    );
  }
  const share = percentOf(spent, most);
  return (
    <Stack gap={2} miw={150}>
      <Progress value={share} aria-label={label} size="sm" color={share >= 90 ? 'red' : 'gray'} />
      <Text size="sm">
        <Usd amount={spent} /> of <Usd amount={most} />
      </Text>
      <Text size="xs" c="dimmed">
        <Usd amount={left} /> left
      </Text>
    </Stack>
  );
}

/** Shows the use of a cap under the name of its period, and the time of its reset. */
export function PeriodUsage({ title, cap }: { title: string; cap: CapDto }) {
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <CapUsage cap={cap} label={title} />
      <Text size="xs" c="dimmed">
        Resets <Instant at={cap.resets_at} relative />
      </Text>
    </Stack>
  );
}
