import { Button, Select, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, http } from '../../api/client';
import type { BookTransactionRecord, CallTimeline } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { ReasonDialog } from '../../components/forms/reason-dialog';
import { formatLocal, formatUsd } from '../../components/values/format';
import { notifyPendingChange } from '../clients/pending-change';

/** Longest reason of an attribution. */
const MAX_REASON = 1_000;

type Payout = CallTimeline['items'][number];

const payoutsInDoubt = ({ items }: CallTimeline) => items.filter(({ state }) => state === 'in_doubt');

/** Lets people with the scope `approve` name the transaction of a payout in doubt. */
export function Attribute({ timeline }: { timeline: CallTimeline }) {
  const { may } = useSession();
  const [opened, setOpened] = useState(false);
  if (payoutsInDoubt(timeline).length === 0 || !may('approve')) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpened(true)}>
        Attribute a transaction
      </Button>
      {opened && <AttributeDialog timeline={timeline} close={() => setOpened(false)} />}
    </>
  );
}

function AttributeDialog({ timeline, close }: { timeline: CallTimeline; close: () => void }) {
  const queries = useQueryClient();
  const payouts = payoutsInDoubt(timeline);
  const [payout, setPayout] = useState(payouts.length === 1 ? (payouts[0]?.payout_id ?? null) : null);
  const [transaction, setTransaction] = useState<string | null>(null);
  const query = { account: timeline.account };
  const { data } = api.useQuery('get', '/v1/reconciliation/transactions', { params: { query } });
  const attribute = async (reason: string) => {
    if (payout === null || transaction === null) return;
    const body = { payout_id: payout, transaction_id: transaction, reason };
    const answer = await http.POST('/v1/reconciliation/attributions', { body });
    if (answer.data) notifyPendingChange(answer.data);
    await queries.invalidateQueries({ queryKey: ['get', '/v1/audit/calls/{id}'] });
  };
  return (
    <ReasonDialog
      title="Attribute a transaction"
      action="Attribute"
      maxLength={MAX_REASON}
      missing={
        payout === null || transaction === null ? 'Choose a payout and a transaction first.' : undefined
      }
      run={attribute}
      close={close}
    >
      <Text size="sm">
        The state of the payout follows from the transaction from then on. Ask the provider first. With dual
        control, this waits for a second person.
      </Text>
      <Select label="Payout" required data={payouts.flatMap(toPayout)} value={payout} onChange={setPayout} />
      <Select
        label="Transaction without a payout"
        required
        searchable
        data={data?.transactions.map(toTransaction) ?? []}
        value={transaction}
        onChange={setTransaction}
      />
    </ReasonDialog>
  );
}

function toPayout({ payout_id: value, position, amount_usd }: Payout) {
  return value === null ? [] : [{ value, label: `Item ${position}: ${formatUsd(amount_usd ?? '0')}` }];
}

function toTransaction({
  id,
  upstream_ref,
  upstream_id,
  amount_usd,
  status,
  issued_at,
}: BookTransactionRecord) {
  const facts = [upstream_ref ?? upstream_id, amount_usd && formatUsd(amount_usd), status];
  return { value: id, label: [...facts, issued_at && formatLocal(issued_at)].filter(Boolean).join(', ') };
}
