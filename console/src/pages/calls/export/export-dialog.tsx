import { Alert, Button, Checkbox, Group, Modal, Progress, Radio, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { messageOf } from '../../../api/problem';
import { keep, type SaveProgress } from '../../../api/save';
import { useSession } from '../../../api/session';
import { formatCount } from '../../../components/values/format';
import { FILTER_NAMES, FILTERS } from '../filters/filters';
import type { List } from '../list';
import { type ExportRequest, type ExportJob, useExport } from './use-export';

export function ExportButton({ list }: { list: List }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="default" size="xs" leftSection={<Download size={14} aria-hidden />} onClick={open}>
        Export
      </Button>
      {isOpen && <ExportDialog list={list} close={close} />}
    </>
  );
}

function ExportDialog({ list, close }: { list: List; close: () => void }) {
  const [request, setRequest] = useState<ExportRequest>({ what: list.what, format: 'csv', reveal: false });
  const { job, begin, cancel } = useExport(list.filters);
  const isRunning = job.state === 'running';
  return (
    <Modal
      opened
      onClose={close}
      title="Export"
      closeOnClickOutside={!isRunning}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">{scopeWords(list)}</Text>
        <Choices request={request} setRequest={setRequest} disabled={isRunning} />
        <Result job={job} />
        <Group justify="flex-end">
          <Button variant="default" onClick={isRunning ? cancel : close}>
            {isRunning ? 'Cancel' : 'Close'}
          </Button>
          <Button loading={isRunning} onClick={() => void begin(request)}>
            Export
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function scopeWords({ filters }: List): string {
  const filterWords = FILTER_NAMES.flatMap((name) =>
    filters[name] === undefined ? [] : FILTERS[name].words(filters[name]),
  );
  const found =
    filterWords.length === 0 ? 'The whole history' : `All results of the filters (${filterWords.join(', ')})`;
  return `${found}, not only this page, with all columns, oldest first. The export is recorded.`;
}

interface ChoicesProps {
  request: ExportRequest;
  setRequest: (request: ExportRequest) => void;
  disabled: boolean;
}

function Choices({ request, setRequest, disabled }: ChoicesProps) {
  const { may } = useSession();
  return (
    <>
      <Radio.Group label="Rows" value={request.what} onChange={(what) => setRequest({ ...request, what })}>
        <Group mt={4}>
          <Radio value="calls" label="Calls" disabled={disabled} />
          <Radio value="items" label="Payouts" disabled={disabled} />
        </Group>
      </Radio.Group>
      <Radio.Group
        label="Format"
        value={request.format}
        onChange={(format) => setRequest({ ...request, format })}
      >
        <Group mt={4}>
          <Radio value="csv" label="CSV" disabled={disabled} />
          <Radio value="ndjson" label="NDJSON" disabled={disabled} />
        </Group>
      </Radio.Group>
      {may('audit:pii') ? (
        <Checkbox
          label="Show people unmasked (recorded)"
          checked={request.reveal}
          disabled={disabled}
          description="Otherwise, emails, phone numbers, and handles are masked."
          onChange={({ currentTarget }) => setRequest({ ...request, reveal: currentTarget.checked })}
        />
      ) : (
        <Text size="sm" c="dimmed">
          People are masked because your key does not have access to them.
        </Text>
      )}
    </>
  );
}

/** Shows the progress and the result. */
function Result({ job }: { job: ExportJob }) {
  switch (job.state) {
    case 'idle':
      return null;
    case 'running':
      return <ProgressView progress={job.progress} />;
    case 'failed':
      return (
        <Alert color="red" role="alert">
          {messageOf(job.error)}
        </Alert>
      );
    case 'saved':
      return <SavedExport {...job} />;
  }
}

function SavedExport({ checked, filename }: Extract<ExportJob, { state: 'saved' }>) {
  return (
    <Alert color="teal" role="status" title={`Complete, ${formatCount(checked.rows)} rows`}>
      {checked.summed
        ? 'The checksum matches. The file is what the proxy wrote.'
        : 'The checksum was not compared, because browsers support this only over https.'}{' '}
      The file is in your downloads as {filename}. Keep the manifest with the file. It proves that the file is
      complete and unchanged.
      <Group mt="xs">
        <Button
          variant="default"
          size="xs"
          onClick={() => keep(checked.manifest, `${filename}.manifest.json`)}
        >
          Save the manifest
        </Button>
      </Group>
    </Alert>
  );
}

function ProgressView({ progress }: { progress: SaveProgress | undefined }) {
  const { bytes = 0, rows = 0, total } = progress ?? {};
  const size = `${formatCount(Math.ceil(bytes / 1_024))} kB`;
  const done = total === undefined ? undefined : Math.min(100, total === 0 ? 100 : (rows / total) * 100);
  return (
    <Stack gap={4}>
      <Progress
        value={done ?? 100}
        animated={done === undefined}
        aria-label={done === undefined ? 'Rows, total unknown' : 'Rows'}
        transitionDuration={200}
      />
      <Text size="sm" role="status">
        {total === undefined
          ? `${formatCount(rows)} rows, ${size} so far`
          : `${formatCount(Math.min(rows, total))} of ${formatCount(total)} rows, ${size}`}
      </Text>
    </Stack>
  );
}
