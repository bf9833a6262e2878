import { Alert, Button, FileButton, Group, List, Modal, NativeSelect, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Download, Upload } from 'lucide-react';
import { useState } from 'react';
import { raw } from '../../../api/client';
import type { FindingDecisions } from '../../../api/generated/schema';
import { save, type SaveProgress } from '../../../api/save';
import { formatCount } from '../../../components/values/format';
import { ProblemAlert } from '../problem-alert';
import type { Filters } from './findings-query';

/** Exports findings to a spreadsheet, and imports the decisions. */
export function Spreadsheet({ filters, close }: { filters: Filters; close: () => void }) {
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title="Decide in a spreadsheet"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <List type="ordered" spacing="md" size="sm">
        <List.Item>
          Download the findings that match these filters as a CSV file. People are masked.
          <Out filters={filters} />
        </List.Item>
        <List.Item>
          Fill in <b>decision</b> (explained, resolved, accepted, or reopened) and <b>reason</b>, in the rows
          that you decide. Keep the column <b>version</b>. With it, findings that changed in the meantime are
          rejected, not overwritten.
        </List.Item>
        <List.Item>
          Send the file back as CSV. All rows are decided, or none. Rows without a decision are not changed.
          <In />
        </List.Item>
      </List>
    </Modal>
  );
}

function Out({ filters }: { filters: Filters }) {
  const [delimiter, setDelimiter] = useState('comma');
  const [progress, setProgress] = useState<SaveProgress>();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const keep = async () => {
    setBusy(true);
    setFailure(undefined);
    const query = new URLSearchParams({ ...filters, delimiter });
    query.delete('page_size'); // It has all of them.
    try {
      await save(`/v1/reconciliation/findings.csv?${query.toString()}`, 'payout-proxy-findings.csv', {
        onProgress: setProgress,
      });
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Stack gap="xs" mt="xs">
      <Group gap="xs" align="flex-end">
        <NativeSelect
          label="Delimiter"
          value={delimiter}
          onChange={({ currentTarget: { value } }) => setDelimiter(value)}
          data={[
            { value: 'comma', label: 'a comma' },
            { value: 'semicolon', label: 'semicolon (for locales that write 1,5)' },
          ]}
        />
        <Button
          variant="default"
          leftSection={<Download size={14} />}
          loading={busy}
          onClick={() => void keep()}
        >
          Download CSV
        </Button>
      </Group>
      {progress && (
        <Text size="sm" role="status">
          {busy ? 'Downloading' : 'Downloaded'}: {formatCount(Math.max(0, progress.rows - 1))} rows.
        </Text>
      )}
      {failure !== undefined && <ProblemAlert error={failure} />}
    </Stack>
  );
}

function In() {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [decided, setDecided] = useState<FindingDecisions>();
  const [failure, setFailure] = useState<unknown>();
  const send = async (file: File | null) => {
    if (!file) return;
    setBusy(true);
    setDecided(undefined);
    setFailure(undefined);
    try {
      const answer = await raw('/v1/reconciliation/findings/decisions.csv', {
        method: 'POST',
        body: await file.arrayBuffer(),
        headers: { 'Content-Type': 'text/csv' },
      });
      setDecided((await answer.json()) as FindingDecisions);
      await queries.invalidateQueries({
        predicate: ({ queryKey: [, path] }) => String(path).startsWith('/v1/reconciliation'),
      });
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Stack gap="xs" mt="xs" align="flex-start">
      <FileButton
        accept=".csv,text/csv"
        onChange={(file) => void send(file)}
        inputProps={{ 'aria-label': 'CSV file' }}
      >
        {(props) => (
          <Button {...props} leftSection={<Upload size={14} />} loading={busy}>
            Send a CSV file back
          </Button>
        )}
      </FileButton>
      {decided && <Decided decided={decided} />}
      {failure !== undefined && <ProblemAlert error={failure} />}
    </Stack>
  );
}

function Decided({ decided: { decided, ignored, findings } }: { decided: FindingDecisions }) {
  const counts = new Map<string, number>();
  for (const { state } of findings) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = [...counts].map(([state, count]) => `${formatCount(count)} ${state}`).join(', ');
  return (
    <Alert color="teal" variant="light" role="status">
      {formatCount(decided)} decided: {states}. {formatCount(ignored)} without a decision, not changed.
    </Alert>
  );
}
