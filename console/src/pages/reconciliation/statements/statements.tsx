import { Anchor, Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Upload } from 'lucide-react';
import { useState } from 'react';
import { useAccounts } from '../../../api/accounts';
import { api } from '../../../api/client';
import type { StatementRecord } from '../../../api/generated/schema';
import { useAddress } from '../../../components/lists/address';
import { type Column, DataTable } from '../../../components/lists/data-table';
import { Pager } from '../../../components/lists/pager';
import { Page } from '../../../components/page/page';
import { Answer } from '../../../components/page/states';
import { Copyable } from '../../../components/values/copyable';
import { formatCount } from '../../../components/values/format';
import { Instant, Maybe } from '../../../components/values/values';
import { ReconciliationNav } from '../nav';
import { ImportStatement } from './import-statement';
import { StatementFaults } from './statement-faults';

const NO_FILTERS = [] as const;

export default function StatementsPage() {
  const { page: query } = useAddress(NO_FILTERS);
  const { data, error, refetch } = api.useQuery('get', '/v1/reconciliation/statements', {
    params: { query },
  });
  const [isImporting, { open, close }] = useDisclosure();
  const isOfSeveral = useAccounts().length > 1;
  const [faultsOf, setFaultsOf] = useState<string>();
  return (
    <Page
      title="Statements"
      lead={
        'CSV files of payments from a provider. A run can compare with one of them instead of the ' +
        "upstream's listing."
      }
      actions={
        <Button leftSection={<Upload size={14} />} onClick={open}>
          Import a statement
        </Button>
      }
    >
      <ReconciliationNav />
      <DataTable
        label="Statements"
        columns={columns(setFaultsOf, isOfSeveral)}
        rows={data?.statements}
        keyOf={({ read_id: id }) => id}
        error={error}
        retry={refetch}
        empty="No statements yet. Without a statement, runs compare with the upstream's own listing."
      />
      <Pager next={data?.next_page_token} />
      {isImporting && <ImportStatement close={close} />}
      {faultsOf !== undefined && <FaultsDialog id={faultsOf} close={() => setFaultsOf(undefined)} />}
    </Page>
  );
}

const ACCOUNT: Column<StatementRecord> = {
  id: 'account',
  title: 'Account',
  render: ({ account }) => account,
};

const columns = (showFaults: (id: string) => void, isOfSeveral: boolean): Column<StatementRecord>[] => [
  { id: 'file', title: 'File', render: ({ file }) => <Maybe text={file} /> },
  ...(isOfSeveral ? [ACCOUNT] : []),
  { id: 'imported', title: 'Imported', render: ({ imported_at: at }) => <Instant at={at} /> },
  { id: 'rows', title: 'Rows', numeric: true, render: ({ rows }) => formatCount(rows) },
  { id: 'kept', title: 'Used', numeric: true, render: ({ kept }) => formatCount(kept) },
  {
    id: 'faults',
    title: 'Not used',
    numeric: true,
    render: ({ read_id: id, file, fault_count: count }) =>
      count === 0 ? (
        '0'
      ) : (
        <Anchor
          component="button"
          size="sm"
          aria-label={`Faults of ${file ?? id}`}
          onClick={() => showFaults(id)}
        >
          {formatCount(count)}
        </Anchor>
      ),
  },
  {
    id: 'sha',
    title: 'SHA-256',
    render: ({ sha256 }) => <Copyable text={sha256} label="SHA-256" shown={sha256.slice(0, 12)} />,
  },
];

function FaultsDialog({ id, close }: { id: string; close: () => void }) {
  const statement = api.useQuery('get', '/v1/reconciliation/statements/{id}', { params: { path: { id } } });
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title="Lines that cannot be used"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Answer of={statement}>{(data) => <StatementFaults statement={data} />}</Answer>
    </Modal>
  );
}
