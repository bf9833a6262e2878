import type { TotalsRecord, WalletRecord } from '../../../api/generated/schema';
import { type Column, DataTable } from '../../../components/lists/data-table';
import { Section } from '../../../components/page/section';
import { formatCount, formatUsd, inWords } from '../../../components/values/format';
import { Instant, Maybe } from '../../../components/values/values';
import { isZero, signedUsd } from '../amounts';

const COLUMNS: Column<WalletRecord>[] = [
  {
    id: 'wallet',
    title: 'Wallet',
    render: ({ wallet_id: id, type, shown_since: since }) => (
      <>
        {type ?? id}
        {since !== null && (
          <>
            , shown since <Instant at={since} />
          </>
        )}
      </>
    ),
  },
  { id: 'opening', title: 'Opening', numeric: true, render: ({ opening_usd: usd }) => <Balance usd={usd} /> },
  { id: 'flows', title: 'Flows', render: ({ flows }) => flowsOf(flows) },
  {
    id: 'gap',
    title: 'Gap',
    numeric: true,
    render: ({ gap_usd: usd }) => (isZero(usd) ? '0' : signedUsd(usd)),
  },
  { id: 'closing', title: 'Closing', numeric: true, render: ({ closing_usd: usd }) => <Balance usd={usd} /> },
];

/** Shows the flows between the opening and the closing balance of each wallet. */
export function Wallets({ wallets }: Pick<TotalsRecord, 'wallets'>) {
  return (
    <Section title="Wallets" lead="The opening balance, the flows and the gap add up to the closing balance.">
      <DataTable
        label="Wallets"
        columns={COLUMNS}
        rows={wallets}
        keyOf={({ wallet_id: id }) => id}
        empty="This run read no wallets."
      />
    </Section>
  );
}

function Balance({ usd }: { usd: string | null }) {
  return usd === null ? <Maybe text={null} /> : formatUsd(usd);
}

function flowsOf(flows: WalletRecord['flows']): string {
  const each = Object.entries(flows).map(
    ([flow, { count, usd }]) =>
      `${inWords(flow)} ${signedUsd(usd)}${count > 0 ? ` (${formatCount(count)})` : ''}`,
  );
  return each.length > 0 ? each.join(', ') : 'none';
}
