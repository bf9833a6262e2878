import { Button, Group, Stack, Text } from '@mantine/core';
import type { CallTimeline, RecordEntry, RecordItem } from '../../../api/generated/schema';
import { type Column, DataTable } from '../../../components/lists/data-table';
import { PayoutBadge } from '../../../components/values/badges';
import { inWords } from '../../../components/values/format';
import { Instant, Maybe, Usd } from '../../../components/values/values';
import { NEXT_STEP_WORDS } from '../../../words/calls';

const COLUMNS: Column<RecordEntry>[] = [
  { id: 'at', title: 'Recorded', render: ({ at }) => <Instant at={at} /> },
  { id: 'entry', title: 'Entry', render: ({ entry }) => <Maybe text={inWords(entry)} /> },
  { id: 'from', title: 'From', render: ({ from }) => <Maybe text={inWords(from)} /> },
  { id: 'to', title: 'To', render: ({ to }) => <Maybe text={inWords(to)} /> },
  { id: 'amount', title: 'Amount', numeric: true, render: ({ amount_usd }) => <Usd amount={amount_usd} /> },
  { id: 'source', title: 'Source', render: ({ source }) => <Maybe text={source} /> },
];

/** Shows the ledger of a payout, and the next step for the app. */
export function Ledger({ timeline, item }: { timeline: CallTimeline; item: RecordItem }) {
  return (
    <Stack gap={4} py="xs" w="fit-content">
      {item.next !== null && (
        <Text size="sm" c="dimmed">
          {NEXT_STEP_WORDS[item.next]}
        </Text>
      )}
      <DataTable
        label={`Ledger of item ${item.position + 1}`}
        columns={COLUMNS}
        rows={timeline.ledger.filter(({ position }) => position === item.position)}
        keyOf={({ entry, at, source }) => `${entry} ${at} ${source}`}
        empty="Nothing has been reserved."
      />
    </Stack>
  );
}

interface StateProps {
  item: RecordItem;
  opened: boolean;
  toggle: () => void;
}

/** Shows the state of a payout, with a button that opens its ledger. */
export function PayoutState({ item: { state, position }, opened, toggle }: StateProps) {
  if (state === null) return <Maybe text={null} />;
  return (
    <Group gap={4} wrap="nowrap">
      <PayoutBadge state={state} />
      <Button
        size="compact-xs"
        variant="subtle"
        onClick={toggle}
        aria-expanded={opened}
        aria-label={`${opened ? 'Hide' : 'Show'} the ledger of item ${position + 1}`}
      >
        {opened ? 'Hide' : 'Ledger'}
      </Button>
    </Group>
  );
}
