import { Button, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, http } from '../../api/client';
import type { FeeRecord } from '../../api/generated/schema';
import { ConfirmDialog } from '../../components/forms/confirm-dialog';
import { type Column, DataTable } from '../../components/lists/data-table';
import { Section } from '../../components/page/section';
import { Maybe, Usd } from '../../components/values/values';
import { notifyPendingChange } from './pending-change';

type FeeTarget = Pick<FeeRecord, 'account' | 'operation'>;

const COLUMNS: Column<FeeRecord>[] = [
  { id: 'operation', title: 'Operation', render: ({ operation }) => operation },
  { id: 'account', title: 'Account', render: ({ account }) => account },
  { id: 'size', title: 'Size of payout', render: Size },
  {
    id: 'fee',
    title: 'Fee',
    numeric: true,
    render: ({ rule, fee_usd: usd }) => rule ?? <Usd amount={usd} />,
  },
  { id: 'calls', title: 'Calls', numeric: true, render: ({ calls }) => <Maybe text={calls} /> },
  { id: 'last', title: 'Last charged', render: ({ last_charged_on: day }) => <Maybe text={day} /> },
];

/** Lists the fees of the upstream that are reserved with payouts, and forgets learned ones. */
export function UpstreamFees() {
  const fees = api.useQuery('get', '/v1/fees');
  const [forgetting, setForgetting] = useState<FeeTarget>();
  const forget: Column<FeeRecord> = {
    id: 'forget',
    title: '',
    render: ({ rule, ...fee }) =>
      rule === null && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => setForgetting(fee)}
          aria-label={`Forget the fees of ${fee.operation}, ${fee.account}`}
        >
          Forget
        </Button>
      ),
  };
  return (
    <Section
      title="Fees of the upstream"
      lead={
        'Reserved with each payout until its real fee is known. UPSTREAM_FEES has rules. Without a rule, ' +
        'the fee of a size of payout is learned once three calls were charged it.'
      }
    >
      <DataTable
        label="Fees of the upstream"
        columns={[...COLUMNS, forget]}
        rows={fees.data?.fees}
        keyOf={({ account, operation, from_usd: from }) => `${account} ${operation} ${from}`}
        error={fees.error}
        retry={fees.refetch}
        empty="No fees are expected."
      />
      {forgetting && <ForgetDialog of={forgetting} close={() => setForgetting(undefined)} />}
    </Section>
  );
}

function Size({ from_usd: from, below_usd: below }: FeeRecord) {
  if (from === null) return 'all';
  return (
    <>
      <Usd amount={from} /> to below <Usd amount={below} />
    </>
  );
}

function ForgetDialog({ of: { account, operation }, close }: { of: FeeTarget; close: () => void }) {
  const queries = useQueryClient();
  const run = async () => {
    const params = { path: { account }, query: { operation: operation as 'POST /payouts/airtime' } };
    const { data } = await http.DELETE('/v1/fees/{account}', { params });
    if (data) notifyPendingChange(data);
    await queries.invalidateQueries({ queryKey: ['get', '/v1/fees'] });
  };
  return (
    <ConfirmDialog title="Forget learned fees" action="Forget them" run={run} close={close}>
      <Text size="sm" className="wrap-anywhere">
        All learned fees of <b>{operation}</b> of the account <b>{account}</b> are not reserved any more, on
        every instance at once. The first three calls of each size can then exceed a cap by their fees.
      </Text>
    </ConfirmDialog>
  );
}
