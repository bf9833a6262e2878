import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { FileSpreadsheet } from 'lucide-react';
import { useAddress } from '../../../components/lists/address';
import { Page } from '../../../components/page/page';
import { ReconciliationNav } from '../nav';
import { FindingsFilters } from './findings-filters';
import { FindingsList } from './findings-list';
import { FILTERS } from './findings-query';
import { Spreadsheet } from './spreadsheet';

export default function FindingsPage() {
  const { values, change, page } = useAddress(FILTERS);
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <Page
      title="Findings"
      lead="Differences between our records and the upstream. A person decides each one."
      actions={
        <Button variant="default" leftSection={<FileSpreadsheet size={14} />} onClick={open}>
          Spreadsheet
        </Button>
      }
    >
      <ReconciliationNav />
      <FindingsFilters values={values} change={change} />
      <FindingsList key={JSON.stringify(values)} filters={values} page={page} />
      {isOpen && <Spreadsheet filters={values} close={close} />}
    </Page>
  );
}
