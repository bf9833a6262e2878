import { Group, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { SandboxWalletDto } from '../../api/generated/schema';
import { type Column, DataTable } from '../../components/lists/data-table';
import { Card } from '../../components/page/section';
import { WordBadge } from '../../components/values/badges';
import { formatUsd } from '../../components/values/format';
import { Usd } from '../../components/values/values';

/** Time for which a changed balance is marked, in milliseconds. */
const NEWS_MS = 10_000;

const keyOf = ({ account_id, wallet }: SandboxWalletDto) => `${account_id} ${wallet}`;

/** Shows the balances in the sandbox's own records. */
export function Wallets({ wallets }: { wallets: SandboxWalletDto[] }) {
  const before = useNews(wallets);
  const columns: Column<SandboxWalletDto>[] = [
    { id: 'owner', title: 'Owner', render: ({ account }) => account },
    { id: 'wallet', title: 'Wallet', render: ({ wallet, currency }) => `${wallet} (${currency})` },
    {
      id: 'balance',
      title: 'Balance',
      numeric: true,
      render: (wallet) => <Balance balance={wallet.balance} was={before.get(keyOf(wallet))} />,
    },
  ];
  return (
    <Card title="Wallets" lead="Balances of the simulated upstream, from its own records, not the proxy's.">
      <DataTable
        label="Wallets"
        columns={columns}
        rows={wallets}
        keyOf={keyOf}
        empty="The sandbox has no accounts."
      />
    </Card>
  );
}

function Balance({ balance, was }: { balance: string; was: string | undefined }) {
  if (was === undefined) return <Usd amount={balance} />;
  return (
    <Group gap="xs" justify="flex-end">
      <WordBadge color="blue">{`was ${formatUsd(was)}`}</WordBadge>
      <Text span inherit fw={700}>
        <Usd amount={balance} />
      </Text>
    </Group>
  );
}

/** Returns the wallets that have just changed, with their previous balances. */
function useNews(wallets: SandboxWalletDto[]): ReadonlyMap<string, string> {
  const [shown, setShown] = useState({ wallets, before: new Map<string, string>() });
  if (shown.wallets !== wallets) setShown({ wallets, before: changesOf(shown.wallets, wallets) });
  useEffect(() => {
    const timer = setTimeout(() => setShown({ wallets, before: new Map() }), NEWS_MS);
    return () => clearTimeout(timer);
  }, [wallets]);
  return shown.before;
}

function changesOf(before: SandboxWalletDto[], now: SandboxWalletDto[]): Map<string, string> {
  const balances = new Map(now.map((wallet) => [keyOf(wallet), wallet.balance]));
  const changed = before.filter(
    (wallet) => (balances.get(keyOf(wallet)) ?? wallet.balance) !== wallet.balance,
  );
  return new Map(changed.map((wallet) => [keyOf(wallet), wallet.balance]));
}
