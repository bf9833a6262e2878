import { Badge, Group, Stack, Text } from '@mantine/core';
import type { OverviewWallet } from '../../api/generated/schema';
import { Instant, Usd } from '../../components/values/values';
import { runwayWords } from './words';

/** Shows the balance of each wallet, and how long it lasts. */
export function Wallets({ wallets }: { wallets: OverviewWallet[] }) {
  return (
    <Stack gap="sm">
      {wallets.map((wallet) => (
        <div key={wallet.wallet_id}>
          <Group justify="space-between" gap={4}>
            <Text size="sm" fw={600} className="wrap-anywhere">
              {wallet.type ?? wallet.wallet_id}
            </Text>
            <Group gap="xs">
              {wallet.is_low && (
                <Badge color="orange" variant="light" tt="none">
                  low
                </Badge>
              )}
              <Text size="sm">
                <Usd amount={wallet.balance_usd} />
              </Text>
            </Group>
          </Group>
          <Text size="xs" c="dimmed">
            {runwayWords(wallet.runway_seconds)} Read <Instant at={wallet.read_at} relative />.
          </Text>
        </div>
      ))}
    </Stack>
  );
}
