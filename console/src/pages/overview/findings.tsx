import { Anchor, Group, Progress, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { OverviewFindings, OverviewRun } from '../../api/generated/schema';
import { Card } from '../../components/page/section';
import { Empty } from '../../components/page/states';
import { formatCount } from '../../components/values/format';
import { Usd } from '../../components/values/values';

/** Shows open findings by age. */
export function FindingsByAge({ ages, run }: { ages: OverviewFindings[]; run: OverviewRun | null }) {
  const most = Math.max(1, ...ages.map(({ count }) => count));
  return (
    <Card
      title="Open findings by age"
      actions={
        <Anchor component={Link} href="/reconciliation/findings" size="sm">
          All findings
        </Anchor>
      }
    >
      {run === null && <Empty>No findings yet, because no reconciliation has run.</Empty>}
      <Stack gap="xs">
        {ages
          .filter(({ count }) => run !== null || count > 0)
          .map(({ age, count, impact_usd: impact }) => (
            <div key={age}>
              <Group justify="space-between">
                <Text size="sm">{age} days</Text>
                <Text size="sm">
                  {formatCount(count)}{' '}
                  <Text span c="dimmed" inherit>
                    (<Usd amount={impact} />)
                  </Text>
                </Text>
              </Group>
              <Progress
                value={(100 * count) / most}
                color="orange"
                size="sm"
                aria-label={`Findings of ${age} days`}
              />
            </div>
          ))}
      </Stack>
    </Card>
  );
}
